"""Facts whose answers are persons of history, from the best known to the least, as we order them."""

from judges.data.facts import LANGUAGES, Fact, table

_PERSONS = """
Albert Einstein/Einstein | ألبرت أينشتاين/أينشتاين | ఆల్బర్ట్ ఐన్‌స్టీన్/ఐన్‌స్టీన్
William Shakespeare/Shakespeare | ويليام شكسبير/شكسبير | విలియం షేక్‌స్పియర్/షేక్‌స్పియర్
Leonardo da Vinci/da Vinci/Leonardo | ليوناردو دافنشي/ليوناردو دا فينشي/دافنشي | లియోనార్డో డా విన్సీ/లియొనార్డో డావిన్సీ
Mahatma Gandhi/Gandhi/Mohandas Karamchand Gandhi | المهاتما غاندي/غاندي | మహాత్మా గాంధీ/గాంధీ
Isaac Newton/Newton/Sir Isaac Newton | إسحاق نيوتن/نيوتن | ఐజాక్ న్యూటన్/న్యూటన్
Charles Darwin/Darwin | تشارلز داروين/داروين | చార్లెస్ డార్విన్/డార్విన్
Neil Armstrong/Armstrong | نيل أرمسترونغ/أرمسترونغ | నీల్ ఆర్మ్‌స్ట్రాంగ్/ఆర్మ్‌స్ట్రాంగ్
Marie Curie/Curie/Maria Skłodowska-Curie | ماري كوري/كوري | మేరీ క్యూరీ/మేరీ క్యూరి
Ludwig van Beethoven/Beethoven
Wolfgang Amadeus Mozart/Mozart
Vincent van Gogh/van Gogh
Galileo Galilei/Galileo
Nelson Mandela/Mandela
Yuri Gagarin/Gagarin
Rabindranath Tagore/Tagore | رابندرانات طاغور/طاغور | రవీంద్రనాథ్ ఠాగూర్/ఠాగూర్/రవీంద్రనాథ టాగూరు
Jane Austen/Austen
Leo Tolstoy/Tolstoy
Johann Sebastian Bach/J. S. Bach
Johannes Gutenberg/Gutenberg
Miguel de Cervantes/Cervantes
Alexander Fleming/Fleming
Naguib Mahfouz/Mahfouz | نجيب محفوظ/محفوظ | నగీబ్ మహ్‌ఫూజ్/మహ్‌ఫూజ్
Dmitri Mendeleev/Mendeleev
Ada Lovelace/Lovelace
Gregor Mendel
Antoni Gaudí/Gaudí/Antoni Gaudi/Gaudi
James Clerk Maxwell/Maxwell
Emmy Noether/Noether
"""
_ASKED = """
Who formulated the general theory of relativity? | من وضع نظرية النسبية العامة؟ | సాధారణ సాపేక్ష సిద్ధాంతాన్ని ప్రతిపాదించినది ఎవరు?
Who wrote the play Hamlet? | من كتب مسرحية هاملت؟ | హామ్లెట్ నాటకాన్ని రాసినది ఎవరు?
Who painted the Mona Lisa? | من رسم لوحة الموناليزا؟ | మోనాలిసా చిత్రాన్ని గీసినది ఎవరు?
Who led the Salt March in India in 1930? | من قاد مسيرة الملح في الهند عام ١٩٣٠؟ | ౧౯౩౦లో భారతదేశంలో దండి యాత్రకు నాయకత్వం వహించినది ఎవరు?
Who published the laws of motion and of gravitation in 1687? | من نشر قوانين الحركة والجاذبية عام ١٦٨٧؟ | ౧౬౮౭లో గమన నియమాలను, గురుత్వాకర్షణ నియమాన్ని ప్రచురించినది ఎవరు?
Who wrote On the Origin of Species? | من ألف كتاب أصل الأنواع؟ | ‘జాతుల ఉత్పత్తి’ (On the Origin of Species) గ్రంథ రచయిత ఎవరు?
Who was the first person to walk on the Moon? | من أول إنسان مشى على القمر؟ | చంద్రునిపై నడిచిన మొదటి మనిషి ఎవరు?
Who discovered radium together with her husband Pierre? | من اكتشفت الراديوم مع زوجها بيير؟ | భర్త పియరీతో కలిసి రేడియంను కనుగొన్న శాస్త్రవేత్త ఎవరు?
Who composed the Ninth Symphony with the Ode to Joy?
Who composed the opera The Magic Flute?
Who painted The Starry Night?
Who discovered the four largest moons of Jupiter in 1610?
Who was elected president of South Africa in 1994?
Who was the first human being in space?
Who wrote the poems of Gitanjali? | من كتب ديوان جيتانجالي؟ | గీతాంజలి కావ్య రచయిత ఎవరు?
Who wrote Pride and Prejudice?
Who wrote War and Peace?
Who composed the Brandenburg Concertos?
Who printed Bibles with movable metal type in Mainz in the 1450s?
Who wrote Don Quixote?
Who discovered penicillin in 1928?
Who wrote the novels of the Cairo Trilogy? | من كتب ثلاثية القاهرة؟ | కైరో ట్రైలజీ నవలలను రాసినది ఎవరు?
Who published a periodic table of the elements in 1869?
Who published notes on Babbage's Analytical Engine in 1843?
Who worked out laws of heredity by crossing peas?
Who designed the basilica of the Sagrada Família in Barcelona?
Who united electricity, magnetism and light in a set of equations in the 1860s?
Who proved in 1918 that symmetries go with conservation laws?
"""  # noqa: E501


def persons() -> tuple[Fact, ...]:
    """Persons by what they did; `popularity` counts from the end of the list, so that the first has the highest."""
    asked = [dict(zip(LANGUAGES, line.split(" | "), strict=False)) for line in _ASKED.strip().splitlines()]
    people = table(_PERSONS)
    return tuple(
        Fact(questions, accepted, len(people) - i)
        for i, (questions, accepted) in enumerate(zip(asked, people, strict=True))
    )
