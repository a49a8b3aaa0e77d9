"""Small pages with the structures of walls and of their look-alikes, and what each is. All written for these tests."""

from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from fetch.page import Cookie, Method, Outcome, Page

SENTENCE = "The ferry leaves the old harbour at seven and reaches the island before the market opens on most days. "
ARTICLE = "<article><h1>The ferry</h1>" + f"<p>{SENTENCE * 4}</p>" * 10 + "</article>"
TEASER = f"<article><h1>The ferry</h1><p>{SENTENCE * 3}</p></article>"
CHINESE = "这座小镇每年秋天都会举办一次集市，附近的农民带着新收的粮食和水果前来，热闹的场面一直持续到深夜。"


class Case(NamedTuple):
    """A page as it could come, and its verdict."""

    name: str
    body: str
    outcome: Outcome
    title: str = ""
    status: int = 200
    url: str = "https://site.example/news/ferry"
    headers: dict[str, str] = {}  # noqa: RUF012  a tuple's default: never changed
    redirects: tuple[tuple[str, int], ...] = ()
    cookies: tuple[Cookie, ...] = ()
    method: Method = "http"
    head: str = ""
    lifts: bool = False

    @property
    def html(self) -> str:
        return (
            f"<!doctype html><html><head><title>{self.title}</title>{self.head}</head><body>{self.body}</body></html>"
        )

    @property
    def page(self) -> Page:
        return page_of(
            self.html,
            url=self.url,
            status=self.status,
            headers=self.headers,
            redirects=self.redirects,
            cookies=self.cookies,
            method=self.method,
        )


def page_of(
    html: str,
    url: str = "https://site.example/news/ferry",
    status: int = 200,
    headers: dict[str, str] | None = None,
    redirects: tuple[tuple[str, int], ...] = (),
    cookies: tuple[Cookie, ...] = (),
    method: Method = "http",
) -> Page:
    """A page with this document."""
    return Page(
        url,
        method,
        status,
        "text/html",
        headers=headers or {},
        body=html.encode() if method == "http" else b"",
        html=html if method == "browser" else None,
        redirects=redirects,
        cookies=cookies,
    )


def tree_of(html: str) -> LexborHTMLParser:
    """The document, parsed as a worker does."""
    return LexborHTMLParser(html)


SELF_LIFTING = (
    Case("cloudflare", "<div class=main-wrapper><h1>site.example</h1><p>Verifying you are human.</p></div>",
         "challenge", "Just a moment...", 403, headers={"cf-mitigated": "challenge", "server": "cloudflare"},
         lifts=True),
    Case("cloudflare at 200 in another language", "<noscript>JavaScript</noscript><script>"
         "window._cf_chl_opt={cZone:1};</script>", "challenge", "Einen Moment…", lifts=True),
    Case("cloudflare, old", "<div class='cf-browser-verification cf-im-under-attack'><h1>Checking your browser "
         "before accessing site.example</h1></div>", "challenge", "Just a moment...", 503, lifts=True),
    Case("cloudflare in a browser", "<h1>site.example</h1><div id=challenge-error-text>Enable JavaScript and cookies "
         "to continue</div>", "challenge", "请稍候…", 403, method="browser", lifts=True),
    Case("aws waf", "<div id=challenge-container></div><script>"
         "AwsWafIntegration.checkForceRefresh().then(go)</script>", "challenge", status=202,
         head="<script>window.gokuProps={}</script>", lifts=True),
    Case("aws waf, silent", "", "challenge", status=202, headers={"x-amzn-waf-action": "challenge"}, lifts=True),
    Case("anubis", f"<h1>Making sure you're not a bot!</h1><p>Loading...</p><details><p>{SENTENCE * 8}</p></details>"
         "<script id=anubis_challenge type=application/json>{}</script>", "challenge",
         "Making sure you&#39;re not a bot!", lifts=True),
    Case("sucuri", "<script>var s={},sucuri_cloudproxy_js='';</script>", "challenge", "You are being redirected...",
         lifts=True),
    Case("vercel", "<p>We're verifying your browser</p>", "challenge", "Vercel Security Checkpoint", 429, headers={
         "x-vercel-mitigated": "challenge"}, lifts=True),
    Case("ddos-guard", "<h1>Checking your browser</h1>", "challenge", "DDoS-Guard", 403, lifts=True),
    Case("fastly", "<noscript>Off</noscript>", "challenge", "Client Challenge",
         head="<script src=/_fs-ch-1x/script.js></script>", lifts=True),
    Case("imperva",
         "<iframe id=main-iframe src='/_Incapsula_Resource?SWUDNSAI=31&x=1'>Request unsuccessful.</iframe>",
         "challenge", lifts=True),
    Case("akamai", "<div id=sec-if-cpt-container><p>Powered and protected</p></div>", "challenge", lifts=True),
    Case("kasada", "<script>window.KPSDK={};KPSDK.now=1;KPSDK.scriptStart=KPSDK.now();</script>", "challenge",
         status=429, lifts=True),
    Case("stackpath", "<p>Please wait</p>", "challenge", head="<script src='/sbbi/?sbbpg=sbbShell'></script>",
         lifts=True),
    Case("f5", "<noscript>Please enable JavaScript to view the page content.</noscript>", "challenge",
         head="<script>window['bobcmn']='1'</script><script src=/TSPD/08a?type=9></script>", lifts=True),
    Case("siteground", "", "challenge", head="<meta http-equiv=refresh content='0;/.well-known/sgcaptcha/?r=%2F'>",
         lifts=True),
    Case("aliyun", "<script>var arg1='A1B2';document.cookie='acw_sc__v2='+x;</script>", "challenge", lifts=True),
    Case("jiasule", "<script>document.cookie=('_')+('_')+('j');location.href=location.pathname</script>", "challenge",
         status=521, cookies=( Cookie("__jsluid_s", "1", "site.example"),), lifts=True),
    Case("weibo visitor", "<script>visitor()</script>", "challenge", "Sina Visitor System",
         url="https://passport.weibo.com/visitor/visitor?entry=miniblog", lifts=True),
    Case("anyone's cookie gate", "<script>document.cookie='ok=1;path=/';location.reload();</script>", "challenge",
         lifts=True),
    Case("anyone's browser check", "<h1>Checking your browser</h1><p>This takes a moment.</p><script>go()</script>",
         "challenge", "Please wait", 503, lifts=True),
)  # fmt: skip

CHALLENGES = (
    Case("datadome", "<p>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c'}</script>"
         "<script src=https://ct.captcha-delivery.com/c.js></script>", "challenge", "site.example", 403),
    Case("human", "<div id=px-captcha></div><p>Press &amp; Hold to confirm you are a human (and not a bot).</p>",
         "challenge", "Access to this page has been denied", 403),
    Case("google", "<form id=captcha-form action=index><div class=g-recaptcha></div></form><p>Our systems have "
         "detected unusual traffic from your computer network.</p>", "challenge",
         "https://www.google.com/search?q=x", 429, url="https://www.google.com/sorry/index?continue=x"),
    Case("baidu", "<div class=passMod_dialog-wrapper>请完成下方验证后继续操作</div>", "challenge", "百度安全验证"),
    Case("sogou", "<p>我们的系统检测到您网络中存在异常访问请求。</p><form id=seccodeForm><input id=seccodeInput>"
         "</form>", "challenge", "搜狗搜索"),
    Case("wechat", "<h2>环境异常</h2><p>当前环境异常，完成验证后即可继续访问。</p><a href=#>去验证</a>", "challenge",
         ""),
    Case("zhihu", "<p>系统监测到您的网络环境存在异常，请点击下方验证按钮进行验证。</p><button>开始验证</button>",
         "challenge", "安全验证 - 知乎", 403, url="https://www.zhihu.com/account/unhuman?type=S6E3V1"),
    Case("alibaba", "<div id=nocaptcha></div>", "challenge", "验证码拦截",
         url="https://item.example.com/_____tmd_____/punish?x5secdata=1"),
    Case("bing", "<header>Search</header><div class=captcha><div class=captcha_header>One last step</div></div>",
         "challenge", "ferry - Search"),
    Case("amazon", "<form action=/errors/validateCaptcha><input id=captchacharacters></form>", "challenge",
         "Robot Check"),
    Case("anyone's turnstile", "<h1>Verify you are human</h1><form><div class=cf-turnstile></div></form>",
         "challenge", "One more step"),
    Case("anyone's slider", "<p>为了您的账号安全，请完成滑动验证，拖动滑块完成拼图</p><div class=nc-container></div>",
         "challenge", "滑动验证页面"),
    Case("a challenge in a shadow root", "<x-wall><template shadowrootmode=open><div id=px-captcha></div></template>"
         "</x-wall>", "challenge", "site.example", 403, method="browser"),
    Case("still without JavaScript", "<p>Please enable JavaScript to continue.</p>", "challenge", method="browser"),
    Case("asks for JavaScript", "<p>请启用 JavaScript 后继续访问</p>", "challenge"),
)  # fmt: skip

REFUSALS = (
    Case("cloudflare 1020", "<div id=cf-error-details><h1>Sorry, you have been blocked</h1><p>You are unable to "
         "access site.example</p></div>", "blocked", "Attention Required! | Cloudflare", 403),
    Case("akamai", "<h1>Access Denied</h1>You don't have permission to access \"http://site.example/\" on this "
         "server.<p>Reference #18.2d351ab8.1557333295.a4e16ab</p>", "blocked", "Access Denied", 403),
    Case("akamai at 200", "<h1>Access Denied</h1><p>Reference #18.2d351ab8.1557333295.a4e16ab</p>", "blocked",
         "Access Denied"),
    Case("nginx", "<center><h1>403 Forbidden</h1></center><hr><center>nginx</center>", "blocked", "403 Forbidden",
         403),
    Case("under a long menu", "<nav>" + "<a href=/x>Category of goods</a> " * 90 + "</nav><h1>403 Forbidden</h1>",
         "blocked", "403 Forbidden - Shop", 403),
    Case("a word", "<p>Forbidden</p>", "blocked", status=403),
    Case("f5", "The requested URL was rejected. Please consult with your administrator.<br>Your support ID is: 41467",
         "blocked", "Request Rejected"),
    Case("wordfence", "<h1>Your access to this site has been limited by the site owner</h1><p>Generated by "
         "Wordfence</p>", "blocked", "Your access to this site has been limited", 503),
    Case("创宇盾", "<p>当前访问疑似黑客攻击，已被创宇盾拦截。</p>", "blocked", "网站防火墙", 403),
    Case("country", "<h1>Unavailable</h1><p>This site is not available in your country.</p>", "blocked",
         "Unavailable for legal reasons", 451),
)  # fmt: skip

GATES = (
    Case("sent to a login", "<h1>Sign in</h1><form><input name=user><input type=password></form>", "login_wall",
         "Sign in", url="https://site.example/login?next=/news/ferry", redirects=(("https://site.example/news/ferry",
         302),)),
    Case("sent to another host's login", "<form><input type=password></form>", "login_wall", "统一身份认证平台",
         url="https://cas.site.example/cas/login?service=x", redirects=(("https://site.example/news/ferry", 302),)),
    Case("a login in place", "<h1>Join us</h1><p>Sign in to continue reading this post.</p><form><input "
         "type=password></form>", "login_wall", "The ferry"),
    Case("登录后查看", f"<p>{CHINESE[:30]}</p><p>登录后即可查看全文</p><a href=/login>登录</a>", "login_wall", "集市"),
    Case("linkedin", "<form class=authwall-join-form></form><p>Join to view the profile</p>", "login_wall",
         "Sign Up | LinkedIn", status=999, url="https://www.linkedin.com/authwall?trk=x"),
    Case("401", "<h1>Unauthorized</h1>", "login_wall", "401", 401),
    Case("google's consent", "<h1>Before you continue to Google</h1><p>We use cookies and data to deliver "
         "services.</p><form action=/save><button>Accept all</button></form>", "consent_wall",
         "Before you continue", url="https://consent.google.com/m?continue=x", redirects=((
         "https://www.google.com/search?q=x", 302),)),
    Case("yahoo's consent", "<h1>Yahoo is part of a family of brands</h1><p>We and our partners use cookies.</p>"
         "<form><button>Accept all</button></form>", "consent_wall", "Yahoo",
         url="https://consent.yahoo.com/v2/collectConsent?sessionId=1", redirects=(("https://news.yahoo.com/ferry",
         302),)),
    Case("a dialog alone", "<div id=didomi-host><h2>We value your privacy</h2><p>" +
         "We and our partners store cookies. " * 20 + "</p><button>Agree</button></div>", "consent_wall", "The ferry",
         method="browser"),
    Case("a dialog of no known make", "<div class=q7><h1>We value your privacy</h1><p>" +
         "We and our partners use cookies here. " * 12 + "</p><button>Accept all</button><button>Manage</button>"
         "</div>", "consent_wall", "The ferry"),
    Case("an age gate", "<h1>Are you over 18?</h1><p>You must be of legal drinking age.</p><button>Yes</button>"
         "<button>No</button>", "consent_wall", "Age verification"),
    Case("a teaser", TEASER + "<div class=paywall>Subscribe to continue reading. Already a subscriber?</div>",
         "paywall", "The ferry",
         head='<script type=application/ld+json>{"isAccessibleForFree": "False"}</script>'),
    Case("a teaser by its words", TEASER +
         "<p>This post is for paid subscribers.</p><a href=/subscribe>Subscribe</a>", "paywall", "The ferry",
         head="<meta property=og:type content=article>"),
    Case("付费阅读", f"<article><p>{CHINESE * 3}</p></article><div class=paywall>开通会员后继续阅读全文</div>",
         "paywall", "集市"),
    Case("402", "<p>Payment required</p>", "paywall", status=402),
    Case("404", "<h1>Not here</h1><p>Try the search.</p>", "not_found", "Oops", 404),
    Case("410 without a body", "", "not_found", status=410),
    Case("a soft 404", "<h1>Page not found</h1><p>The page you requested does not exist.</p>", "not_found",
         "404 | Site"),
    Case("页面不存在", "<h1>页面不存在</h1><p>您访问的页面不存在或已被删除。</p>", "not_found", "页面不存在"),
    Case("a soft 404 under a long menu",
         "<nav>" + "<a href=/x>Category of goods</a> " * 90 + "</nav><h1>Page not found</h1>",
         "not_found", "Page not found - Shop"),
    Case("an age gate that asks for a date", "<h1>Welcome</h1><p>Please enter your date of birth. You must be 21 or "
         "older.</p><select></select><button>Enter</button>", "consent_wall", "Brewery"),
    Case("nothing", "", "empty"),
    Case("a title and nothing", "<div></div>", "empty", "The ferry"),
    Case("no content", "", "empty", status=204),
)  # fmt: skip

PAGES = (
    Case("an article", ARTICLE, "ok", "The ferry"),
    Case("about Cloudflare", "<article><h1>Just a moment... and other messages</h1>" +
         "<p>Screens that say “Checking your browser”, "
         "“Access Denied” or “Verify you are human” cost readers time, and this is what we found when we counted "
         "them.</p>" * 4 + "<pre>&lt;script&gt;window._cf_chl_opt={}&lt;/script&gt;</pre></article>", "ok",
         "Just a moment... and other messages"),
    Case("about Access Denied, with that title", f"<article><h1>Access Denied</h1><p>{SENTENCE * 6}</p><p>The band "
         f"called the record Access Denied.</p><p>{SENTENCE * 4}</p></article>", "ok", "Access Denied"),
    Case("a short note on captchas",
         "<h1>Notes</h1><p>Solve the captcha, press and hold, and wait. We hate that.</p>", "ok", "Notes"),
    Case("关于验证码的文章", f"<h1>什么是滑动验证</h1><p>{CHINESE * 6}拖动滑块完成验证，您的网络存在异常。</p>", "ok",
         "什么是滑动验证"),
    Case("a contact form with a captcha", "<h1>Contact</h1><form><input name=mail><textarea></textarea><div "
         "class=g-recaptcha></div>"
         "<button>Send</button></form><script src=https://www.google.com/recaptcha/api.js></script>", "ok", "Contact"),
    Case("a comment form with a turnstile", TEASER + "<form><input name=name><textarea></textarea><div "
         "class=cf-turnstile></div></form>", "ok", "The ferry"),
    Case("cloudflare's beacon", f"<h1>Hours</h1><p>{SENTENCE}</p><script "
         f"src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>"
         "<script>window.__CF$cv$params={r:'1'}</script>", "ok", "Hours", headers={"server": "cloudflare", "cf-ray":
         "1-AMS"}),
    Case("imperva's, datadome's and human's scripts", TEASER + "<script src='/_Incapsula_Resource?SWJIYLWA=1'>"
         "</script><script src=https://js.datadome.co/tags.js></script><script src=/aOtQIWNf/init.js></script>",
         "ok", "The ferry", headers={"x-datadome": "protected"}),
    Case("403 with the article", ARTICLE, "ok", "The ferry", 403),
    Case("403 with a short article", f"<h1>Guide</h1><p>Forbidden in name only: this guide is public. "
         f"{SENTENCE * 4}</p>", "ok", "Guide", 403),
    Case("404 with the article", ARTICLE, "ok", "The ferry", 404),
    Case("an article on 404s", f"<h1>404 Not Found</h1><p>{SENTENCE * 9}</p>", "ok", "404 Not Found - HTTP"),
    Case("a gateway that timed out", "<div id=cf-error-details><h1>Connection timed out</h1><p>Error code 522</p>"
         "</div>", "ok", "site.example | 522: Connection timed out", 522),
    Case("a login that was asked for", "<h1>Sign in</h1><form><input name=user><input type=password></form><p>Please "
         "log in to continue.</p>", "ok", "Sign in", url="https://site.example/login"),
    Case("a login at the root", "<form><input name=user><input type=password><button>Sign in</button></form>", "ok",
         "Sign in - Intranet", url="https://intra.example/"),
    Case("an article with a login box", TEASER + "<aside><p>Log in to comment</p><form><input type=password></form>"
         "</aside>", "ok", "The ferry"),
    Case("a banner beside content", TEASER + "<div id=onetrust-consent-sdk><h2>We value your privacy</h2><p>" +
         "We use cookies. " * 60 + "</p><button>Accept all</button></div>", "ok", "The ferry"),
    Case("a banner of no known make beside a short page", "<main><h1>Hours</h1><p>Open from nine to five.</p></main>"
         "<div class=z><h2>Cookies"
         "</h2><p>We use cookies and our partners do. Accept all cookies?</p><button>Accept all</button></div>", "ok",
         "Hours"),
    Case("a privacy policy", f"<h1>Cookie policy</h1><p>We use cookies. {SENTENCE * 10}</p>", "ok", "Cookie policy"),
    Case("a wine shop", f"<h1>Wines</h1><p>You must be over 18 to order. {SENTENCE * 2}</p><button>Buy</button>",
         "ok", "Wines"),
    Case("paid for and whole", ARTICLE + "<p>Already a subscriber?</p>", "ok", "The ferry",
         head='<script type=application/ld+json>{"isAccessibleForFree": false}</script>'),
    Case("a newsletter's form", TEASER + "<p>Subscribe to get our letters.</p><form><input type=email></form>", "ok",
         "The ferry"),
    Case("help with an error",
         f"<h1>Access denied</h1><p>{SENTENCE * 3}If you see this, contact the administrator.</p>",
         "ok", "Access denied error - Help"),
    Case("a search without results", "<h1>No results found</h1><p>Try another query.</p>", "ok", "Search"),
    Case("a login and a paywall that do not show",
         TEASER + "<div hidden><p>Sign in to continue</p><input type=password>"
         "<div class=paywall>Subscribe to continue reading</div></div>", "ok", "The ferry", method="browser"),
    Case("a picture", "<img src=ferry.jpg>", "ok", "The ferry"),
    Case("short and whole", "<h1>Contact</h1><p>Ring the bell twice and wait.</p>", "ok", "Contact"),
    Case("too many requests", "<p>Too many requests</p>", "ok", status=429),
    Case("a challenge passed in the browser", ARTICLE, "ok", "The ferry", 403, headers={"cf-mitigated": "challenge"},
         method="browser"),
    Case("an application's shell", "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root>"
         "</div><img src=logo.svg><script src=/static/js/main.js></script>", "ok", "App"),
)  # fmt: skip
