"""What gives each vendor's wall away: as data.

Only what stands on a wall and not on the pages behind it. Vendors' scripts are on the good pages too: Cloudflare's
`challenge-platform/scripts/jsd`, DataDome's `tags.js`, Imperva's `_Incapsula_Resource` script, HUMAN's `init.js` and
AWS WAF's `challenge.js` are no signs. Collected from vendors' documentation and from reports on public issue trackers.
"""

from typing import Literal, NamedTuple

from fetch.page import Outcome

CERTAIN = 6  # stands on a wall only
STRONG = 3  # seldom elsewhere
WEAK = 1  # says who answered, not what

Where = Literal["header", "cookie", "url", "title", "selector", "script", "text"]
"""Where a sign stands. `header` is `name: part of the value`, `cookie` the beginning of a name that was set, `url` an
expression for host and path, `title` one for the whole title or first heading, `selector` a CSS selector, `script` a
part of a script's address or of how it begins, `text` an expression for the visible words in lower case."""


class Wall(NamedTuple):
    """A vendor's wall. `lifts`: it may let a browser through without a person."""

    name: str
    outcome: Outcome = "challenge"
    lifts: bool = False


class Sign(NamedTuple):
    """One thing that gives it away."""

    where: Where
    what: str
    weight: int = CERTAIN


SIGNS: dict[Wall, tuple[Sign, ...]] = {
    Wall("cloudflare", lifts=True): (
        Sign("header", "cf-mitigated: challenge"),
        Sign("script", "_cf_chl_opt"),
        Sign("script", "/orchestrate/chl_page/"),
        Sign("script", "/orchestrate/jsch/"),
        Sign("script", "/orchestrate/managed/"),
        Sign("selector", "#challenge-form, #challenge-running, #challenge-error-text, .cf-browser-verification"),
        Sign("selector", '[class*="cf-challenge-"], [id*="cf-challenge-"], #cf-please-wait, form[action*="__cf_chl"]'),
    ),
    Wall("cloudflare", "blocked"): (
        Sign("header", "cf-mitigated: block"),
        Sign("title", r"attention required! \| cloudflare|access denied \| .{1,80} used cloudflare to restrict access"),
        Sign("selector", "#cf-error-details", STRONG),
        Sign("text", r"\berror (code:? )?10(05|06|07|08|09|10|12|15|20)\b", STRONG),
    ),
    Wall("akamai", "blocked"): (
        Sign("text", r"\breference\s*#?\s*:?\s*#?\s*[0-9a-f]{1,4}\.[0-9a-f]{6,}\.\d{6,}", STRONG),
        Sign("text", r"\berrors\.edgesuite\.net/", STRONG),
    ),
    Wall("akamai", lifts=True): (
        Sign("selector", "#sec-if-cpt-container, #sec-cpt-if, .behavioral-content #sec-overlay"),
        Sign("script", "/_sec/cp_challenge/"),
    ),
    Wall("imperva", lifts=True): (
        Sign("selector", 'iframe[src*="_Incapsula_Resource"]'),
        Sign("selector", '#distilIdentificationBlock, form[action*="distil_r_captcha"]'),
        Sign("title", r"pardon our interruption(\.\.\.)?", STRONG),
        Sign("text", r"\bincapsula incident id: ", STRONG),
    ),
    Wall("datadome"): (
        Sign("selector", 'iframe[src*="captcha-delivery.com/captcha"]'),
        Sign("script", "captcha-delivery.com/c.js"),
        Sign("header", "x-dd-b: ", WEAK),
        Sign("header", "x-datadome: ", WEAK),
    ),
    Wall("datadome interstitial", lifts=True): (
        Sign("selector", 'iframe[src*="captcha-delivery.com/interstitial"]'),
        Sign("script", "captcha-delivery.com/i.js"),
    ),
    Wall("human"): (
        Sign("selector", '#px-captcha, #px-captcha-wrapper, meta[name="description"][content="px-captcha"]'),
        Sign("script", "captcha.px-cdn.net", STRONG),
        Sign("script", "/captcha/captcha.js?a=c&", STRONG),
        Sign("title", r"access to this page has been denied\.?", STRONG),
        Sign("text", r"\bpress (&|and) hold\b", WEAK),
    ),
    Wall("aws waf", lifts=True): (
        Sign("header", "x-amzn-waf-action: challenge"),
        Sign("script", "AwsWafIntegration.checkForceRefresh"),
        Sign("script", "gokuProps", STRONG),
    ),
    Wall("aws waf captcha"): (
        Sign("header", "x-amzn-waf-action: captcha"),
        Sign("script", ".captcha.awswaf.com/", STRONG),
        Sign("script", "gokuProps", STRONG),
    ),
    Wall("cloudfront", "blocked"): (
        Sign("title", r"error: the request could not be satisfied", STRONG),
        Sign("text", r"\brequest blocked\. we can't connect to the server", STRONG),
    ),
    Wall("kasada", lifts=True): (
        Sign("script", "KPSDK.scriptStart"),
        Sign("script", "/149e9513-01fa-4fb0-aad4-566afd725d1b/", WEAK),
        Sign("header", "x-kpsdk-ct: ", WEAK),
    ),
    Wall("f5", "blocked"): (
        Sign("text", r"\bthe requested url was rejected\b", STRONG),
        Sign("text", r"\b(your )?support id( is|:)", STRONG),
    ),
    Wall("f5 script", lifts=True): (
        Sign("script", "/TSPD/", STRONG),
        Sign("script", "bobcmn", STRONG),
    ),
    Wall("sucuri", "blocked"): (
        Sign("title", r"sucuri website firewall - .*", CERTAIN),
        Sign("header", "x-sucuri-block: ", STRONG),
        Sign("text", r"\baccess denied - sucuri website firewall", STRONG),
    ),
    Wall("sucuri", lifts=True): (
        Sign("script", "sucuri_cloudproxy_js"),
        Sign("title", r"you are being redirected\.\.\.", STRONG),
    ),
    Wall("ddos-guard", lifts=True): (
        Sign("title", r"ddos-guard", CERTAIN),
        Sign("script", "/.well-known/ddos-guard/js-challenge"),
        Sign("script", "check.ddos-guard.net", STRONG),
        Sign("selector", "[data-ddg-origin], #ddg-captcha, .ddg-captcha"),
        Sign("header", "server: ddos-guard", WEAK),
    ),
    Wall("stackpath", lifts=True): (Sign("script", "/sbbi/?sbbpg="), Sign("script", "sbbvscc", STRONG)),
    Wall("vercel", lifts=True): (
        Sign("header", "x-vercel-mitigated: challenge"),
        Sign("script", "/.well-known/vercel/security/"),
        Sign("title", r"vercel security checkpoint", CERTAIN),
    ),
    Wall("vercel", "blocked"): (Sign("header", "x-vercel-mitigated: deny"),),
    Wall("fastly", lifts=True): (Sign("script", "/_fs-ch-"), Sign("title", r"client challenge", STRONG)),
    Wall("anubis", lifts=True): (
        Sign("selector", "#anubis_challenge, #anubis_version"),
        Sign("script", "/.within.website/x/cmd/anubis/"),
        Sign("title", r"making sure you're not a bot!?", STRONG),
    ),
    Wall("go-away", lifts=True): (
        Sign("script", "/.well-known/.git.gammaspectra.live/git/go-away/"),
        Sign("selector", 'meta[content*="git/go-away"]'),
    ),
    Wall("basedflare", lifts=True): (
        Sign("script", "/.basedflare/"),
        Sign("selector", "[data-pow][data-mode]", STRONG),
    ),
    Wall("siteground", lifts=True): (
        Sign("header", "sg-captcha: challenge"),
        Sign("selector", 'meta[http-equiv="refresh" i][content*="/.well-known/sgcaptcha/"]'),
    ),
    Wall("safeline", lifts=True): (Sign("script", "/.safeline/"), Sign("selector", "#slg-box, #slg-caption")),
    Wall("reblaze", lifts=True): (Sign("script", "window.rbzns"), Sign("cookie", "rbzid", WEAK)),
    Wall("radware"): (
        Sign("url", r"^validate\.perfdrive\.com/"),
        Sign("title", r"radware (captcha|bot manager captcha).*", STRONG),
    ),
    Wall("wordfence", "blocked"): (
        Sign("text", r"\baccess to this (site|service) has been limited\b", STRONG),
        Sign("text", r"\bgenerated by wordfence\b", STRONG),
    ),
    Wall("fortinet", "blocked"): (
        Sign("title", r"web page blocked!?|application blocked!?", STRONG),
        Sign("text", r"\battack id:? \d", STRONG),
    ),
    Wall("google"): (
        Sign("url", r"^(www|ipv[46]|scholar|maps)\.google\.[a-z.]+/sorry/"),
        Sign("selector", 'form[action^="/sorry/"], form#captcha-form[action="index"]'),
        Sign("text", r"\bour systems have detected unusual traffic\b", STRONG),
    ),
    Wall("google script", lifts=True): (Sign("selector", 'meta[content*="/httpservice/retry/enablejs"]', STRONG),),
    Wall("bing"): (Sign("selector", '.captcha .captcha_header, #captchaform, form[action*="/fd/ls/CAPT"]'),),
    Wall("duckduckgo"): (Sign("selector", ".anomaly-modal__title, form#challenge-form[action*='/anomaly.js']"),),
    Wall("yandex"): (
        Sign("url", r"/(showcaptcha|checkcaptcha)"),
        Sign("selector", '.CheckboxCaptcha, .AdvancedCaptcha, form[action*="/checkcaptcha"]'),
    ),
    Wall("amazon"): (
        Sign("selector", 'form[action*="/errors/validateCaptcha"], #captchacharacters'),
        Sign("script", "opfcaptcha", STRONG),
    ),
    Wall("reddit", "blocked"): (
        Sign("text", r"\b(you've been )?blocked by network security\b", STRONG),
        Sign("text", r"\bwhoa there, pardner\b", STRONG),
    ),
    Wall("baidu"): (
        Sign("url", r"^wappass\.baidu\.com/static/captcha"),
        Sign("title", r"百度安全验证"),
        Sign("selector", '[class*="passMod_"]', STRONG),
    ),
    Wall("sogou"): (
        Sign("url", r"\.sogou\.com/antispider/"),
        Sign("selector", "#seccodeForm, #seccodeInput, #seccodeImage"),
        Sign("text", r"检测到您网络中存在异常访问请求", STRONG),
    ),
    Wall("360"): (Sign("url", r"^qcaptcha\.so\.com/"),),
    Wall("wechat"): (
        Sign("url", r"^mp\.weixin\.qq\.com/mp/wappoc_appmsgcaptcha"),
        Sign("script", "secitptpage/verify"),
        Sign("text", r"环境异常，?\s?完成验证后即可继续访问", STRONG),
    ),
    Wall("zhihu"): (
        Sign("url", r"^www\.zhihu\.com/account/unhuman"),
        Sign("text", r"系统监测到您的网络环境存在异常", STRONG),
    ),
    Wall("weibo", lifts=True): (
        Sign("url", r"^passport\.weibo\.(com|cn)/visitor/"),
        Sign("title", r"sina visitor system", CERTAIN),
    ),
    Wall("alibaba"): (
        Sign("url", r"/_____tmd_____/"),
        Sign("script", "/_____tmd_____/"),
        Sign("script", "x5secdata"),
        Sign("selector", "#baxia-punish, .bx-captcha, .punish-component", STRONG),
        Sign("text", r"访问被拒绝|非常抱歉，?这可能因为您的网络环境异常", STRONG),
    ),
    Wall("aliyun waf", lifts=True): (Sign("script", "acw_sc__v2"), Sign("script", "acw_sc__v3")),
    Wall("aliyun waf", "blocked"): (
        Sign("text", r"由于您访问的url有可能对网站造成安全威胁", STRONG),
        Sign("selector", "#block_traceid, [data-spm*='block'] #traceid", STRONG),
    ),
    Wall("edgeone", lifts=True): (Sign("script", "__tst_status", STRONG), Sign("script", "EO_Bot_Ssid", STRONG)),
    Wall("jiasule", lifts=True): (Sign("cookie", "__jsluid", STRONG), Sign("script", "__jsl_clearance")),
    Wall("chuangyu", "blocked"): (Sign("text", r"已被(创宇盾|网站管理员设置)拦截|当前访问疑似黑客攻击", STRONG),),
    Wall("jd"): (Sign("url", r"^cfe\.m\.jd\.com/"), Sign("title", r"京东验证", CERTAIN)),
    Wall("bytedance", lifts=True): (
        Sign("title", r"验证码中间页", CERTAIN),
        Sign("script", "byted_acrawler.init", STRONG),
    ),
    Wall("meituan"): (Sign("url", r"^verify\.meituan\.com/"), Sign("title", r"(美团)?验证中心", STRONG)),
    Wall("douban", lifts=True): (Sign("url", r"^sec\.douban\.com/"),),
    Wall("xiaohongshu"): (Sign("url", r"\.xiaohongshu\.com/website-login/captcha"),),
    Wall("bilibili", "blocked"): (Sign("text", r"由于触发哔哩哔哩安全风控策略", STRONG),),
    Wall("linkedin", "login_wall"): (
        Sign("url", r"\.linkedin\.com/(authwall|checkpoint/)"),
        Sign("selector", ".authwall-join-form, form.authwall-sign-in-form, #join-form.join-form.authwall"),
        Sign("script", "/authwall?"),
    ),
    Wall("queue-it", lifts=True): (Sign("url", r"\.queue-it\.net/"), Sign("script", ".queue-it.net/spa-api/", STRONG)),
}

WIDGETS = (
    ".g-recaptcha, .h-captcha, .cf-turnstile, #cf-turnstile, #captcha-box, #captchaBox, #captcha-container, "
    "#captcha_container, #captcha-widget, .geetest_captcha, .geetest_holder, #nc_1_wrapper, .nc-container, #nocaptcha, "
    "#tcaptcha_transform, #TencentCaptcha, .frc-captcha, altcha-widget, .yidun, #aliyunCaptcha-window-popup, "
    'iframe[src*="/recaptcha/"], iframe[src*="hcaptcha.com"], iframe[src*="challenges.cloudflare.com"], '
    'iframe[src*="arkoselabs.com"], iframe[src*="funcaptcha.com"], iframe[src*="turing.captcha.gtimg.com"], '
    'iframe[src*="captcha" i], img[src*="captcha" i], img[src*="vcode" i], img[src*="verifycode" i]'
)
"""Captchas: a wall where they are all that there is to do, a part of a form elsewhere."""

SIGHTED_FIELDS = (
    "textarea, select, input:not([type]), input[type='text'], input[type='email'], input[type='password'], "
    "input[type='tel'], input[type='search'], input[type='number'], input[type='date'], input[type='file'], "
    "input[type='radio']"
)
"""Fields that a person fills in."""
