"""Facts whose answers are places: capitals, countries, rivers."""

from judges.data.facts import Fact, templated

_CAPITAL = {"en": "What is the capital of {x}?", "ar": "ما عاصمة {x}؟", "te": "{x} రాజధాని ఏది?"}
_STATES = """
France | فرنسا | ఫ్రాన్స్
Italy | إيطاليا | ఇటలీ
Spain | إسبانيا | స్పెయిన్
Portugal | البرتغال | పోర్చుగల్
Greece | اليونان | గ్రీస్
Egypt | مصر | ఈజిప్టు
Japan | اليابان | జపాన్
Canada | كندا | కెనడా
Australia | أستراليا | ఆస్ట్రేలియా
Austria | النمسا | ఆస్ట్రియా
Kenya | كينيا | కెన్యా
Peru | بيرو | పెరూ
"""
_CAPITALS = """
Paris | باريس | పారిస్/ప్యారిస్
Rome | روما | రోమ్/రోము
Madrid | مدريد | మాడ్రిడ్
Lisbon | لشبونة | లిస్బన్
Athens | أثينا | ఏథెన్స్
Cairo | القاهرة | కైరో
Tokyo | طوكيو | టోక్యో
Ottawa | أوتاوا | ఒట్టావా
Canberra | كانبرا/كانبيرا | కాన్‌బెర్రా/కాన్బెర్రా
Vienna | فيينا | వియన్నా
Nairobi | نيروبي | నైరోబీ/నైరోబి
Lima | ليما | లిమా
"""

_COUNTRY = {"en": "In which country is {x}?", "ar": "ما البلد الذي فيه {x}؟", "te": "{x} ఏ దేశంలో ఉంది?"}
_SIGHTS = """
the Eiffel Tower | برج إيفل | ఈఫిల్ టవర్
the Colosseum | الكولوسيوم | కొలోసియం
the Alhambra | قصر الحمراء | అల్హంబ్రా కోట
the Parthenon | معبد البارثينون | పార్థినాన్ ఆలయం
the Great Sphinx of Giza | تمثال أبو الهول | గిజా స్ఫింక్స్ విగ్రహం
Mount Fuji | جبل فوجي | ఫుజి పర్వతం
the rock of Uluru | صخرة أولورو | ఉలురు శిల
Machu Picchu | ماتشو بيتشو | మాచు పిచ్చు
the Taj Mahal | تاج محل | తాజ్ మహల్
the ancient city of Petra | مدينة البتراء الأثرية | ప్రాచీన పెట్రా నగరం
the temple of Angkor Wat | معبد أنغكور وات | అంగ్‌కోర్ వాట్ ఆలయం
Mount Kilimanjaro | جبل كليمنجارو | కిలిమంజారో పర్వతం
"""
_COUNTRIES = """
France | فرنسا | ఫ్రాన్స్
Italy | إيطاليا | ఇటలీ
Spain | إسبانيا | స్పెయిన్
Greece | اليونان | గ్రీస్/గ్రీసు
Egypt | مصر | ఈజిప్టు/ఈజిప్ట్
Japan | اليابان | జపాన్
Australia | أستراليا | ఆస్ట్రేలియా
Peru | بيرو/البيرو | పెరూ
India | الهند | భారతదేశం/ఇండియా/భారత్
Jordan | الأردن | జోర్డాన్
Cambodia | كمبوديا | కంబోడియా
Tanzania | تنزانيا | టాంజానియా
"""

_RIVER = {
    "en": "Which river flows through the city of {x}?",
    "ar": "ما النهر الذي يمر بمدينة {x}؟",
    "te": "{x} నగరం గుండా ప్రవహించే నది ఏది?",
}
_TOWNS = """
London | لندن | లండన్
Paris | باريس | పారిస్
Cairo | القاهرة | కైరో
Rome | روما | రోమ్
Vienna | فيينا | వియన్నా
Baghdad | بغداد | బాగ్దాద్
Cologne | كولونيا | కొలోన్
Varanasi | فاراناسي | వారణాసి
Vijayawada | فيجاياوادا | విజయవాడ
Rajahmundry | راجامندري | రాజమండ్రి
Prague | براغ | ప్రాగ్
Warsaw | وارسو | వార్సా
"""
_RIVERS = """
Thames/the Thames/River Thames | التايمز/نهر التايمز | థేమ్స్/థేమ్స్ నది
Seine/the Seine | السين/نهر السين | సీన్/సీన్ నది
Nile/the Nile | النيل/نهر النيل | నైలు/నైలు నది/నైల్
Tiber/the Tiber | التيبر/نهر التيبر | టైబర్/టైబర్ నది
Danube/the Danube | الدانوب/نهر الدانوب | డాన్యూబ్/డాన్యూబ్ నది
Tigris/the Tigris | دجلة/نهر دجلة | టైగ్రిస్/టైగ్రిస్ నది
Rhine/the Rhine | الراين/نهر الراين | రైన్/రైన్ నది
Ganges/the Ganges/Ganga | الغانج/نهر الغانج | గంగా/గంగా నది/గంగ
Krishna/Krishna River/the Krishna | كريشنا/نهر كريشنا | కృష్ణా/కృష్ణా నది/కృష్ణ
Godavari/Godavari River/the Godavari | غودافاري/نهر غودافاري | గోదావరి/గోదావరి నది
Vltava/the Vltava/Moldau | فلتافا/نهر فلتافا | వల్టావా/వల్టావా నది
Vistula/the Vistula | فيستولا/نهر فيستولا | విస్తులా/విస్తులా నది
"""


def capitals() -> tuple[Fact, ...]:
    """Capitals that nobody disputes."""
    return templated(_CAPITAL, _STATES, _CAPITALS)


def countries() -> tuple[Fact, ...]:
    """Countries of sights."""
    return templated(_COUNTRY, _SIGHTS, _COUNTRIES)


def rivers() -> tuple[Fact, ...]:
    """Rivers of cities that lie on one large river."""
    return templated(_RIVER, _TOWNS, _RIVERS)
