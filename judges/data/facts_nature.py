"""Facts whose answers are chemical elements, planets or animals."""

from judges.data.facts import LANGUAGES, Fact, table, templated

_ELEMENT = {
    "en": "Which chemical element has the symbol {x}?",
    "ar": "ما العنصر الكيميائي الذي رمزه {x}؟",
    "te": "{x} అనే గుర్తు ఏ రసాయన మూలకానిది?",
}
_SYMBOLS = "Fe Au Ag Cu Pb Sn Na K O H He Ca"
_ELEMENTS = """
iron | الحديد/حديد | ఇనుము
gold | الذهب/ذهب | బంగారం
silver | الفضة/فضة | వెండి
copper | النحاس/نحاس | రాగి
lead | الرصاص/رصاص | సీసం
tin | القصدير/قصدير | తగరం
sodium | الصوديوم/صوديوم | సోడియం
potassium | البوتاسيوم/بوتاسيوم | పొటాషియం
oxygen | الأكسجين/أكسجين | ఆక్సిజన్/ప్రాణవాయువు/ఆమ్లజని
hydrogen | الهيدروجين/هيدروجين | హైడ్రోజన్/ఉదజని
helium | الهيليوم/هيليوم | హీలియం
calcium | الكالسيوم/كالسيوم | కాల్షియం
"""

_PLANET = {
    "en": "Which planet is the {x} from the Sun?",
    "ar": "ما الكوكب {x} بُعدًا عن الشمس؟",
    "te": "సూర్యుని నుండి {x} గ్రహం ఏది?",
}
_PLACES = """
first | الأول | మొదటి
second | الثاني | రెండవ
third | الثالث | మూడవ
fourth | الرابع | నాల్గవ
fifth | الخامس | ఐదవ
sixth | السادس | ఆరవ
seventh | السابع | ఏడవ
eighth | الثامن | ఎనిమిదవ
"""
_PLANETS = """
Mercury | عطارد | బుధుడు/బుధ గ్రహం
Venus | الزهرة | శుక్రుడు/శుక్ర గ్రహం
Earth/the Earth | الأرض | భూమి
Mars | المريخ | అంగారకుడు/కుజుడు/అంగారక గ్రహం
Jupiter | المشتري | బృహస్పతి/గురుడు/గురు గ్రహం
Saturn | زحل | శని/శని గ్రహం
Uranus | أورانوس | యురేనస్
Neptune | نبتون | నెప్ట్యూన్
"""

_ANIMALS = """
elephant/the elephant | الفيل/فيل | ఏనుగు
giraffe/the giraffe | الزرافة/زرافة | జిరాఫీ/జిరాఫ్
blue whale/the blue whale | الحوت الأزرق | నీలి తిమింగలం/బ్లూ వేల్
cheetah/the cheetah | الفهد/الفهد الصياد | చీతా
camel/the camel/dromedary | الجمل/جمل/الإبل | ఒంటె
ostrich/the ostrich | النعامة/النعام | ఉష్ట్రపక్షి/నిప్పుకోడి
kangaroo/the kangaroo | الكنغر/الكنغارو | కంగారూ/కంగారు
honey bee/bee/honeybee | النحلة/النحل/نحل العسل | తేనెటీగ
spider/the spider | العنكبوت/عنكبوت | సాలీడు/సాలెపురుగు
bat/the bat | الخفاش/الوطواط | గబ్బిలం
zebra/the zebra | الحمار الوحشي/حمار الزرد | జీబ్రా/చారల గుర్రం
octopus/the octopus | الأخطبوط/أخطبوط | ఆక్టోపస్/అష్టపాది
"""
_DESCRIBED = """
Which animal has a trunk and tusks? | ما الحيوان الذي له خرطوم ونابان؟ | తొండం, దంతాలు ఉన్న జంతువు ఏది?
Which living animal is the tallest? | ما أطول الحيوانات الحية قامةً؟ | జీవించి ఉన్న జంతువులలో అత్యంత ఎత్తైనది ఏది?
Which living animal is the largest? | ما أضخم حيوان حي؟ | జీవించి ఉన్న జంతువులలో అతి పెద్దది ఏది?
Which animal runs fastest on land? | ما أسرع الحيوانات جريًا على اليابسة؟ | నేలపై అత్యంత వేగంగా పరుగెత్తే జంతువు ఏది?
Which animal is called the ship of the desert? | ما الحيوان الملقب بسفينة الصحراء؟ | ఎడారి ఓడ అని పిలిచే జంతువు ఏది?
Which living bird is the largest? | ما أكبر الطيور الحية؟ | జీవించి ఉన్న పక్షులలో అతి పెద్దది ఏది?
Which large hopping animal of Australia carries its young in a pouch? | ما الحيوان الأسترالي الكبير الذي يقفز ويحمل صغاره في جيب؟ | పిల్లలను సంచిలో మోస్తూ గెంతే ఆస్ట్రేలియా పెద్ద జంతువు ఏది?
Which insect is kept in hives for its honey? | ما الحشرة التي تُربى في الخلايا من أجل عسلها؟ | తేనె కోసం పెట్టెలలో పెంచే కీటకం ఏది?
Which animal with eight legs weaves a web to catch flies? | ما الحيوان ذو الأرجل الثماني الذي ينسج شبكة ليصطاد الذباب؟ | ఈగలను పట్టుకోవడానికి వల అల్లే ఎనిమిది కాళ్ల జీవి ఏది?
Which mammal can truly fly? | ما الحيوان الثديي القادر على الطيران الحقيقي؟ | నిజంగా ఎగరగల క్షీరదం ఏది?
Which wild relative of the horse has black and white stripes? | ما قريب الحصان البري ذو الخطوط السوداء والبيضاء؟ | నలుపు తెలుపు చారలున్న, గుర్రానికి బంధువైన అడవి జంతువు ఏది?
Which sea animal has eight arms and no shell? | ما الحيوان البحري الذي له ثماني أذرع ولا صدفة له؟ | ఎనిమిది చేతులు ఉండి గుల్ల లేని సముద్ర జీవి ఏది?
"""  # noqa: E501


def elements() -> tuple[Fact, ...]:
    """Elements by their symbols."""
    symbols = "\n".join(f"{symbol} | {symbol} | {symbol}" for symbol in _SYMBOLS.split())
    return templated(_ELEMENT, symbols, _ELEMENTS)


def planets() -> tuple[Fact, ...]:
    """The eight planets by their distance from the Sun."""
    return templated(_PLANET, _PLACES, _PLANETS)


def animals() -> tuple[Fact, ...]:
    """Animals by what they are known for."""
    asked = (line.split(" | ") for line in _DESCRIBED.strip().splitlines())
    return tuple(
        Fact(dict(zip(LANGUAGES, questions, strict=True)), accepted)
        for questions, accepted in zip(asked, table(_ANIMALS), strict=True)
    )
