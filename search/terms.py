"""Words of a query and of a result, made comparable.

Width, case, accents and common English endings are taken off; Chinese, Japanese, Korean and the South East Asian
scripts, which do not part words, are compared by pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_UNPARTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_PIECE = re.compile(rf"[{_UNPARTED}]+|(?:(?![{_UNPARTED}_])\w)+(?:\+\+|#(?!\w))?")
_IS_UNPARTED = re.compile(f"[{_UNPARTED}]")
_LONGEST = 40  # characters of a word that are looked at
_MAX_TEXT = 20_000  # characters of a text that are looked at

# The commonest characters whose traditional form differs, as pairs; enough that half of a query's pairs still match
_TRADITIONAL = (
    "万萬台臺与與丑醜专專业業丛叢东東丝絲丢丟两兩严嚴丧喪个個丰豐临臨为為丽麗举舉义義乌烏乐樂习習乡鄉书書买買乱亂争爭"
    "亏虧云雲亚亞产產亩畝亲親亿億仅僅从從仓倉仪儀们們价價众眾优優会會伞傘伟偉传傳伤傷伦倫伪偽体體余餘侠俠侧側"
    "侨僑俭儉债債倾傾偿償储儲儿兒党黨兰蘭关關兴興养養兽獸内內冈岡册冊写寫军軍农農冲衝决決况況冻凍净淨凉涼减減"
    "凤鳳凭憑凯凱击擊凿鑿刘劉则則刚剛创創别別剂劑剑劍剧劇劝勸办辦务務动動励勵劳勞势勢区區医醫华華协協单單卖賣"
    "卢盧卫衛压壓厂廠厅廳历歷厉厲厕廁县縣参參双雙发發变變叙敘叶葉号號叹嘆后後吓嚇吗嗎吨噸听聽启啟员員响響哑啞"
    "问問啸嘯团團园園围圍国國图圖圆圓场場坏壞块塊坚堅坛壇坟墳坠墜垄壟垫墊堕墮墙牆壮壯声聲壳殼处處备備复復够夠"
    "头頭夸誇夹夾夺奪奋奮奖獎妆妝妇婦妈媽婴嬰娱娛孙孫学學宁寧宝寶实實宠寵审審宪憲宫宮宽寬对對寻尋导導寿壽将將"
    "尔爾尘塵尝嘗层層届屆属屬岁歲岂豈岗崗岛島岭嶺币幣帅帥师師帐帳带帶帮幫干幹并並广廣庄莊庆慶库庫应應庙廟废廢"
    "开開异異弃棄张張弯彎弹彈强強归歸当當录錄彻徹径徑忆憶志誌忧憂怀懷态態总總恋戀恶惡悬懸惊驚惧懼惩懲愿願戏戲"
    "战戰户戶扑撲执執扩擴扫掃扬揚扰擾抢搶护護报報担擔拟擬拥擁择擇挂掛挡擋挤擠挥揮损損换換据據掷擲摄攝摆擺摇搖"
    "撑撐敌敵数數断斷无無旧舊时時显顯晋晉晓曉暂暫术術机機杀殺杂雜权權条條来來杨楊极極构構枪槍柜櫃查查标標栏欄"
    "树樹样樣桥橋档檔梦夢检檢楼樓欢歡欧歐残殘毁毀毕畢气氣汇匯汉漢汤湯沟溝没沒泽澤洁潔浅淺测測济濟浓濃涛濤润潤"
    "涨漲温溫游遊湾灣湿濕满滿滚滾滞滯灭滅灯燈灵靈灾災炉爐点點炼煉烂爛烟煙烦煩烧燒热熱爱愛爷爺牵牽状狀犹猶独獨"
    "狮獅猎獵猪豬猫貓献獻环環现現玛瑪电電画畫疗療疯瘋盐鹽监監盖蓋盘盤矿礦码碼础礎确確礼禮祸禍离離种種积積称稱"
    "稳穩穷窮窃竊竞競笔筆筑築签簽简簡类類粮糧粤粵紧緊红紅约約级級纪紀纯純纲綱纳納纵縱纷紛纸紙纹紋线線练練组組"
    "细細织織终終绍紹经經结結给給绝絕统統继繼绩績续續维維综綜绿綠网網罗羅罚罰罢罷职職联聯聪聰肃肅胜勝脏臟脑腦"
    "脚腳脸臉腾騰艺藝节節芦蘆苏蘇苹蘋范範药藥荣榮获獲莱萊营營萧蕭蓝藍虑慮虚虛虫蟲虽雖蚁蟻补補装裝裤褲见見观觀"
    "规規视視览覽觉覺触觸誉譽计計订訂认認讨討让讓训訓议議讯訊记記讲講许許论論设設访訪证證评評识識诉訴词詞译譯"
    "试試诗詩话話询詢该該详詳语語误誤说說请請诸諸课課谁誰调調谈談谢謝谷穀贝貝负負贡貢财財责責败敗货貨质質购購"
    "贵貴费費贺賀资資赏賞赛賽赢贏赵趙赶趕跃躍践踐车車轨軌转轉轮輪软軟轻輕载載较較辅輔辆輛输輸辞辭边邊达達迁遷"
    "过過运運还還这這进進远遠违違连連迟遲适適选選递遞逻邏遗遺邮郵邻鄰郑鄭酱醬释釋里裡针針钟鐘钢鋼钱錢铁鐵银銀"
    "链鏈销銷锁鎖错錯键鍵镇鎮镜鏡长長门門闪閃闭閉间間闻聞阅閱队隊阳陽阴陰阵陣阶階际際陆陸陈陳险險随隨隐隱难難"
    "雾霧静靜页頁顶頂项項顺順须須顾顧预預领領频頻题題额額风風飞飛饭飯饮飲饰飾馆館马馬驱驅驶駛驻駐验驗骑騎鱼魚"
    "鲁魯鲜鮮鸟鳥鸡雞鸭鴨鸿鴻鹅鵝麦麥黄黃齐齊齿齒龙龍龟龜饲飼"
)  # fmt: skip
_FOLD: Final = {ord(old): new for new, old in zip(_TRADITIONAL[::2], _TRADITIONAL[1::2], strict=True)}

STOP: Final = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been by can could did do does for from get had has have how i if in into is it its me
        my not of on or our should so than that the their them then there these this to us use using vs was we were what
        when where which who why will with would you your about after all also am any but he her his more most no one
        out over she some such they up com www http https org der die das und ein eine le la les des de du un une el
        los las y en que para por il di old much many long far near mean meaning""",
    )
)
"""Words that say nothing about what is searched for."""

# Question words and endings of two characters, then particles of one
_PARTICLES = re.compile(
    "什么|甚么|怎么样|怎么|怎样|如何|为何|为什|哪些|哪个|哪里|是否|可以|多少|几个|有没有|没有|我们|你们|他们|一个|这个|那个"
    "|です|ます|する|した|して|から|まで|とは|には|では|하는|에서|으로|입니다"
    "|[的了是在和吗呢吧啊之与及或把被就都也很么のはがをにでともへや은는이가을를의]"
)


def folded(text: str) -> str:
    """The text in lower case, of one width, without accents, Chinese in its simplified form."""
    plain = unicodedata.normalize("NFKD", text[:_MAX_TEXT]).casefold().translate(_FOLD)
    bare = "".join(sign for sign in plain if unicodedata.category(sign) != "Mn" or _is_kept(sign))
    return unicodedata.normalize("NFC", bare)


def _is_kept(mark: str) -> bool:
    """Whether it makes another letter of the one before it: vowels of South East Asia, voiced kana."""
    return "\u0e00" <= mark <= "\u17ff" or mark in "\u3099\u309a"


def pieces(text: str) -> Iterator[str]:
    """The words of a folded text in their order, and its runs of characters that are not parted into words."""
    return (match[0][:_LONGEST] for match in _PIECE.finditer(text))


def is_unparted(piece: str) -> bool:
    """Whether it is of a script that does not part words."""
    return _IS_UNPARTED.match(piece) is not None


def grams(run: str, size: int = 2) -> list[str]:
    """Its neighbouring characters by twos or threes; the run itself where it is shorter."""
    return [run[at : at + size] for at in range(len(run) - size + 1)] or [run]


def content_runs(run: str) -> list[str]:
    """The parts of a run of Chinese, Japanese or Korean that carry meaning, between its particles and question words.

    Single characters are left out, where anything else is left.
    """
    parts = [part for part in _PARTICLES.split(run) if part]
    return [part for part in parts if len(part) > 1] or parts
