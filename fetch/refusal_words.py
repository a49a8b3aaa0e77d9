"""What walls, logins, consent dialogs, paywalls and missing pages say, in English and Chinese and some in others.

Words are never enough: each rule that uses these wants structure beside them.
"""

import re


def _whole(*options: str) -> re.Pattern[str]:
    """An expression for a whole segment of a title, marks at its end aside."""
    return re.compile(r"(?:" + "|".join(options) + r")\s*[.!?…。！？]*")


def _any(*options: str) -> re.Pattern[str]:
    return re.compile("|".join(options))


CHALLENGE_TITLE = _whole(
    r"just a moment",
    r"one (more )?(moment|step)( please)?",
    r"one last step",
    r"checking your browser",
    r"checking (if )?the site connection is secure",
    r"verifying( that)? (you are|you're) (a )?human",
    r"verify (that )?(you are|you're) (a |not a )?(human|robot|bot)",
    r"are you (a )?(human|robot)",
    r"are you not a robot",
    r"human verification",
    r"bot (verification|check|protection)",
    r"robot (check|or human)",
    r"security (check|challenge)",
    r"security verification",
    r"browser (check|verification)",
    r"(ddos|bot) protection( by .{1,30})?",
    r"captcha( challenge)?",
    r"please (verify|prove) (that )?you are (a )?human",
    r"verification required",
    r"un instant",
    r"einen moment( bitte)?",
    r"один момент",
    r"しばらくお待ちください",
    r"请稍候",
    r"安全验证",
    r"人机验证",
    r"访问验证",
    r"身份验证",
    r"滑[动块]验证(页面)?",
    r"验证码",
    r"安全检测",
    r"机器人验证",
    r"正在验证(您的)?浏览器",
    r"请完成安全验证",
    r"环境异常",
    r"访问异常",
    r"安全中心",
)

REFUSAL_TITLE = _whole(
    r"(error )?40[36]( -)?( forbidden| error| not acceptable)?",
    r"(http )?error 403",
    r"forbidden",
    r"(error 403 )?access (is )?(denied|forbidden|blocked|restricted)( - .{1,40})?",
    r"access to this (page|site|resource) (has been|is) (denied|blocked|forbidden)",
    r"request (rejected|blocked|denied)",
    r"(you have been|you've been|you are|you're) blocked",
    r"(sorry, )?you have been blocked",
    r"blocked",
    r"not acceptable",
    r"unavailable for legal reasons",
    r"permission denied",
    r"zugriff verweigert",
    r"accès refusé",
    r"acceso denegado",
    r"доступ запрещ[её]н",
    r"アクセスが拒否されました",
    r"拒绝访问",
    r"访问被(拒绝|拦截|阻断|禁止)",
    r"禁止访问",
    r"访问受限",
    r"无权访问",
    r"请求被(拦截|拒绝)",
    r"网站防火墙",
)

CHALLENGE_WORDS = _any(
    r"checking (your|the) browser",
    r"(verify|confirm|prove|check|make sure|making sure)\w*,? (that )?"
    r"(you are|you're|you aren't|it's really you|are) (a |not a )?(human|robot|bot|real person|person)",
    r"(i'm|i am) (not a robot|human)",
    r"unusual (traffic|activity|network activity)",
    r"needs to review the security of",
    r"complete the (security|following|captcha|challenge)",
    r"solve (the|this) (captcha|challenge|puzzle)",
    r"ddos (protection|attack)",
    r"enable (javascript|js) and (cookies|disable)",
    r"automated (access|requests|queries)",
    r"(press|slide|drag) .{0,20}to (verify|confirm|prove)",
    r"security (check|verification|service) to",
    r"\bray id:",
    r"你不?是(机器人|人类)",
    r"您(的)?(网络|访问|环境|请求|ip).{0,8}(异常|可疑)",
    r"(完成|进行|通过).{0,6}(验证|校验)",
    r"(拖动|滑动|按住).{0,4}(滑块|滑动)",
    r"异常(流量|访问|请求)",
    r"访问(过于|太)频繁",
    r"请输入(图中|图片)?.{0,4}验证码",
    r"点击(下方)?(按钮)?.{0,4}验证",
    r"正在(进行|检查|检测|验证).{0,6}(浏览器|安全|环境)",
)

REFUSAL_WORDS = _any(
    r"access (to .{1,60} )?(is |has been |was )?(denied|forbidden|blocked|restricted)",
    r"(you have been|you've been|you were|your (ip|ip address|request|access) (address )?(has been|was|is)) "
    r"(temporarily )?(blocked|banned|denied|limited|rejected|refused)",
    r"(don't|do not|doesn't) have (permission|access|authorization) to",
    r"\bforbidden\b",
    r"request (was |has been )?blocked",
    r"not available in your (country|region)",
    r"unavailable (in your|for legal)",
    r"bots? (are|is) not (allowed|permitted)",
    r"(contact|email) the (site owner|website owner|administrator)",
    r"not (allowed|authori[sz]ed|permitted) to (access|view)",
    r"拒绝(了)?(您的)?访问",
    r"(访问|请求|ip).{0,6}(被|已被).{0,4}(拒绝|拦截|阻断|禁止|封禁|屏蔽|限制)",
    r"禁止访问",
    r"没有权限",
    r"无权(限)?访问",
)

SCRIPT_WORDS = _any(
    r"(please |must |need to |have to )?(enable|turn on|activate|allow|requires?|needs?) (your )?(java ?script|js)\b",
    r"(java ?script|js) (is |was |has been |must be |needs to be )?"
    r"(disabled|not enabled|turned off|required|enabled|off)",
    r"turn (java ?script|js) on",
    r"without java ?script",
    r"(doesn't|does not|won't) work .{0,40}without (java ?script|js)",
    r"(启用|开启|打开|允许|支持|需要)\s?(您?的?(浏览器|瀏覽器)的?)?\s?(java ?script|js\b|脚本)",
    r"(java ?script|js|脚本)\s?(功能)?(已|被|未)?(禁用|关闭|启用|开启)",
    r"(啟用|開啟)\s?(瀏覽器的?)?\s?java ?script",
    r"javascriptを有効",
    r"activez javascript",
    r"aktivieren .{1,6}java ?script",
)

MISSING_TITLE = _whole(
    r"(error )?404( -| :|:)?( error| page)?( not found)?",
    r"(http )?(error|status) 404( not found)?",
    r"(the )?(requested )?"
    r"(page|file|document|article|post|url|resource)( you (requested|were looking for))? "
    r"(was |is |has been |could |can )?"
    r"(not|cannot|can't|n't)( be)? (found|exist|available)",
    r"page (doesn't|does not|no longer) exists?",
    r"not found",
    r"(this|that|the) page (can't|cannot|could not|couldn't) be found",
    r"(oops!? ?)?page not found",
    r"we (can't|cannot|couldn't) find (that|this|the) page( you're looking for)?",
    r"content (not found|unavailable)",
    r"seite nicht gefunden",
    r"page (introuvable|non trouvée)",
    r"página no encontrada",
    r"página não encontrada",
    r"страница не найдена",
    r"ページが見つかりません(でした)?",
    r"(该|此|您访问的|你访问的)?(页面|网页|文章|内容|帖子|链接)(未找到|不存在|找不到(了)?|已(被)?删除)",
    r"(抱歉|对不起)[,，！!]?.{0,12}(页面|网页|内容|文章).{0,8}(不存在|未找到|找不到|已(被)?删除)(了)?",
    r"404页面",
    r"找不到(该|此|您要的)?(页面|网页)",
)

MISSING_WORDS = _any(
    r"\b404\b",
    r"(page|file|article|post|url|document|content|product|item) .{0,40}"
    r"(not|no longer|n't|cannot) .{0,8}(be found|found|exist|available)",
    r"(couldn't|could not|can't|cannot|unable to) find (the|that|this) (page|file|article|post|url|document|content)",
    r"has (been )?(moved|removed|deleted)",
    r"(check|mistyped) the (url|address)",
    r"(页面|网页|文章|内容|帖子|链接).{0,10}(不存在|未找到|找不到|已(被)?删除)",
)

LOGIN_TITLE = _whole(
    r"(log|sign)[ -]?(in|on)( to .{1,40}| or (sign up|register).{0,30})?",
    r"login( page| required)?",
    r"(please )?(log|sign) in.{0,40}",
    r"authentication required",
    r"(account|member|user) (login|sign in)",
    r"join .{1,30}",
    r"sign up.{0,40}",
    r"anmelden",
    r"iniciar sesión",
    r"(请)?(先)?(用户|账号|会员|统一|扫码|密码)?(登录|登陆|登入)(.{0,12})",
    r"身份认证",
    r"统一身份认证.{0,12}",
    r"ログイン",
)

LOGIN_WORDS = _any(
    r"(log|sign) in (or (sign up|register|join|create an account) )?(to|and) "
    r"(continue|view|see|read|access|proceed|unlock|watch)",
    r"(must|need to|have to|required to|please) (be )?(log|logged|sign|signed)[ -]?in",
    r"(sign up|join|register|create (an|a free) account)( now| for free)?( or (log|sign) in)? to "
    r"(continue|view|see|read|access|unlock|watch)",
    r"(only )?(available|visible) (only )?(to|for) (logged[- ]in|registered|signed[- ]in)? ?(users|members)",
    r"(登录|登陆|注册|登入).{0,4}(后|即可|才能|以后).{0,8}(查看|阅读|访问|继续|浏览|观看|使用)",
    r"(请|需要|需|必须)(先)?(登录|登陆|登入)",
    r"扫码(登录|查看)",
)

CONSENT_WORDS = _any(
    r"before you continue( to)?",
    r"(we|our partners) (value|respect|care about) your privacy",
    r"we (and our|use) .{0,40}(partners|cookies)",
    r"(accept|reject|agree to|allow|manage) (all|cookies|our use)",
    r"cookie (settings|preferences|policy|consent)",
    r"consent to",
    r"(store|access) .{0,30}information on (a|your) device",
    r"privacy (choices|settings|preferences)",
    r"(接受|同意|拒绝|允许)(全部|所有)?\s?(cookie|cookies)",
    r"(使用|存储)\s?cookies?",
    r"重视(您|你)的隐私",
    r"隐私(设置|政策|协议)",
    r"我们使用 ?cookie",
    r"tout accepter",
    r"aceptar todo",
    r"wir (benötigen|verwenden)",
    r"nous (utilisons|respectons)",
)

AGE_WORDS = _any(
    r"(are you|i am|i'm|you must be|must be|you are) (at least |over |aged? )?(18|19|20|21)\b",
    r"age (verification|gate|check|confirmation|restricted)",
    r"(verify|confirm|enter) your (age|date of birth)",
    r"of legal (drinking )?age",
    r"adult(s)? only|adult content",
    r"(已?年?满|未满)\s?1[68]\s?(周?岁)",
)

PAYWALL_WORDS = _any(
    r"subscribe (now )?(to|and) (continue|keep|read|unlock|access|get)",
    r"(already|existing) (a )?(subscriber|member|digital subscriber)\b",
    r"(this|the rest of this|full) (article|story|content|post) is (only )?"
    r"(for|available (only )?to|reserved for) (paid |paying )?(subscribers|members|premium)",
    r"(to|and) (continue|keep) reading",
    r"(you've|you have) (reached|used|read) (your|all|the) .{0,30}(free|limit|article)",
    r"(unlock|read) (this|the|the full|full) (article|story)",
    r"become a (paid )?(subscriber|member)",
    r"start your (free )?trial",
    r"this (post|content) is for (paid|paying) subscribers",
    r"(订阅|购买|付费|开通会员|成为会员|升级会员).{0,8}(后|即可|继续|可).{0,6}(阅读|查看|全文|观看)",
    r"(付费|会员|订阅)(内容|文章|专享|可见|阅读)",
    r"(阅读|查看|解锁)(全文|剩余|更多).{0,10}(付费|订阅|会员|购买)",
    r"剩余\s?\d+\s?%",
    r"试读(已)?结束",
    r"artikel (jetzt )?(weiterlesen|freischalten)",
    r"(réservé|reservé) aux abonnés",
    r"solo para suscriptores",
    r"この記事は有料",
)
