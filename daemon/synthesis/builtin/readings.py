"""Mandarin readings that the phrase table lacks or has wrong, and words with a toneless syllable."""

# Words whose reading pypinyin's phrase table lacks or gets wrong; one line each: the word and its pinyin.
PHRASES = dict(
    line.strip().split(" ", 1)
    for line in """
    还款 huan2 kuan3
    还钱 huan2 qian2
    还车 huan2 che1
    还清 huan2 qing1
    归还 gui1 huan2
    重试 chong2 shi4
    重播 chong2 bo1
    重连 chong2 lian2
    重装 chong2 zhuang1
    重来 chong2 lai2
    重做 chong2 zuo4
    重发 chong2 fa1
    重置 chong2 zhi4
    调高 tiao2 gao1
    调低 tiao2 di1
    调到 tiao2 dao4
    调成 tiao2 cheng2
    调小 tiao2 xiao3
    调大 tiao2 da4
    调暗 tiao2 an4
    调亮 tiao2 liang4
    调温 tiao2 wen1
    调试 tiao2 shi4
    洗干净 xi3 gan1 jing4
    晾干 liang4 gan1
    晒干 shai4 gan1
    擦干 ca1 gan1
    吹干 chui1 gan1
    干衣机 gan1 yi1 ji1
    干活 gan4 huo2
    干嘛 gan4 ma2
    干吗 gan4 ma2
    倒计时 dao4 ji4 shi2
    倒车 dao4 che1
    倒水 dao4 shui3
    温差 wen1 cha1
    偏差 pian1 cha1
    时差 shi2 cha1
    差不多 cha4 bu5 duo1
    下载 xia4 zai4
    旋转 xuan2 zhuan3
    转动 zhuan4 dong4
    切换 qie1 huan4
    切断 qie1 duan4
    更多 geng4 duo1
    更换 geng1 huan4
    更衣室 geng1 yi1 shi4
    教室 jiao4 shi4
    教学楼 jiao4 xue2 lou2
    行李 xing2 li5
    一行人 yi4 xing2 ren2
    几行 ji3 hang2
    多长 duo1 chang2
    长出 zhang3 chu1
    长高 zhang3 gao1
    站长 zhan4 zhang3
    班组长 ban1 zu3 zhang3
    量体温 liang2 ti3 wen1
    量血压 liang2 xue4 ya1
    量身高 liang2 shen1 gao1
    量一下 liang2 yi2 xia4
    称重 cheng1 zhong4
    数一数 shu3 yi5 shu3
    系好 ji4 hao3
    系上 ji4 shang4
    系紧 ji4 jin3
    背书包 bei1 shu1 bao1
    发型 fa4 xing2
    理发 li3 fa4
    洗发水 xi3 fa4 shui3
    吹头发 chui1 tou2 fa5
    血压 xue4 ya1
    血糖 xue4 tang2
    角色 jue2 se4
    的士 di1 shi4
    的确 di2 que4
    目的 mu4 di4
    目的地 mu4 di4 di4
    为您 wei4 nin2
    为你 wei4 ni3
    为我 wei4 wo3
    为大家 wei4 da4 jia1
    为什么 wei4 shen2 me5
    因为 yin1 wei4
    作为 zuo4 wei2
    成为 cheng2 wei2
    改为 gai3 wei2
    设为 she4 wei2
    称为 cheng1 wei2
    睡着 shui4 zhao2
    着火 zhao2 huo3
    着凉 zhao2 liang2
    着装 zhuo2 zhuang1
    关不了 guan1 bu5 liao3
    开不了 kai1 bu5 liao3
    受不了 shou4 bu5 liao3
    到不了 dao4 bu5 liao3
    得去 dei3 qu4
    得走 dei3 zou3
    得先 dei3 xian1
    总得 zong3 dei3
    还得 hai2 dei3
    取得 qu3 de2
    获得 huo4 de2
    得到 de2 dao4
    得分 de2 fen1
    得奖 de2 jiang3
    看着 kan4 zhe5
    大都市 da4 du1 shi4
    都市 du1 shi4
    首都 shou3 du1
    成都 cheng2 du1
    人都 ren2 dou1
    对不起 dui4 bu5 qi3
    好不好 hao3 bu5 hao3
    是不是 shi4 bu5 shi4
    能不能 neng2 bu5 neng2
    要不要 yao4 bu5 yao4
    会不会 hui4 bu5 hui4
    看一看 kan4 yi5 kan4
    试一试 shi4 yi5 shi4
    等一等 deng3 yi5 deng3
    想一想 xiang3 yi5 xiang3
    什么 shen2 me5
    那么 na4 me5
    怎么 zen3 me5
    这么 zhe4 me5
    曲奇 qu1 qi2
    歌曲 ge1 qu3
    乐曲 yue4 qu3
    乐队 yue4 dui4
    量杯 liang2 bei1
    质量 zhi4 liang4
    处于 chu3 yu2
    处理 chu3 li3
    各处 ge4 chu4
    晕车 yun4 che1
    中奖 zhong4 jiang3
    命中 ming4 zhong4
    中暑 zhong4 shu3
    中毒 zhong4 du2
    间隔 jian4 ge2
    间断 jian4 duan4
    累计 lei3 ji4
    累积 lei3 ji1
    供应 gong1 ying4
    供电 gong1 dian4
    供暖 gong1 nuan3
    供水 gong1 shui3
    提供 ti2 gong1
    响应 xiang3 ying4
    应答 ying4 da2
    散热 san4 re4
    散开 san4 kai1
    分散 fen1 san4
    """.strip().splitlines()
)

# How a character reads as a word of its own, where that is not pypinyin's first reading.
SINGLES = dict(
    pair.split(":")
    for pair in str.split("""
    嗯:en4 调:tiao2 长:chang2 干:gan1 切:qie1 种:zhong4 教:jiao1 弹:tan2 尽:jin4 处:chu4 为:wei2 得:de5 地:de5
    着:zhe5 了:le5 都:dou1 还:hai2 行:xing2 重:zhong4 只:zhi3 差:cha4 空:kong1 倒:dao4 吧:ba5 呢:ne5 吗:ma5
    啊:a5 呀:ya5 嘛:ma5 啦:la5 哪:na3 那:na4 谁:shei2 的:de5 和:he2 似:si4 给:gei3 血:xue4 熟:shu2 露:lu4
    """)
)

# Words of everyday speech whose second syllable is toneless (Xiandai Hanyu Cidian marks them so).
NEUTRAL_SECOND = frozenset(
    str.split("""
    朋友 东西 先生 喜欢 窗户 知道 衣服 时候 消息 关系 事情 地方 意思 认识 休息 明白 告诉 清楚 漂亮 便宜 麻烦
    暖和 凉快 舒服 客气 厉害 热闹 聪明 干净 多少 眼睛 耳朵 嘴巴 头发 胳膊 月亮 石头 木头 里头 前头 后头 外头
    上头 爸爸 妈妈 哥哥 姐姐 弟弟 妹妹 爷爷 奶奶 叔叔 姑姑 舅舅 宝宝 娃娃 太太 谢谢 星星 看看 试试 听听 想想
    护士 大夫 师傅 丈夫 媳妇 亲戚 邻居 主人 商量 打听 招呼 故事 名字 行李 包袱 钥匙 扫帚 笤帚 豆腐 馒头 粮食
    味道 指甲 脑袋 葡萄 萝卜 觉得 记得 晓得 值得 懂得 使得 收拾 精神 力气 脾气 运气 福气 早上 晚上 地上 身上
    路上 楼上 屋里 家里 这里 那里 哪里 夜里 手里 心里 这边 那边 里边 外边 上边 下边 前边 后边 左边 右边 咱们
    我们 你们 他们 她们 它们 人们 出来 起来 进来 过来 回来 下来 上来 出去 进去 过去 回去 下去 上去 结实 老实
    踏实 迷糊 糊涂 马虎 痛快
    """)
)

# 儿 is a syllable of its own here; elsewhere at a word's end it only colours the syllable before it.
FULL_ER = frozenset(
    str.split("女儿 婴儿 幼儿 孤儿 胎儿 少儿 小儿 健儿 宠儿 男儿 侄儿 孙儿 混血儿 新生儿 早产儿")
)
