"""How Chromium is started: every argument and preference, each with its reason.

Playwright's own arguments are left out as a whole and those worth keeping are named here, so that an update of
Playwright changes nothing about what pages and the network see (a test compares the two lists). Measured with
Chromium 156 and Playwright 1.65.
"""

import json
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

Kind = Literal["full", "light"]

# Port 1 is on the list that the Fetch standard forbids ("bad port"): Chromium refuses it by itself, before its proxy.
NOWHERE: Final = "https://localhost:1"

QUIET: Final = (
    "--disable-background-networking",  # safe browsing lists, variations, extension updates
    "--disable-component-update",  # the timed updates of components; the next line stops those made on demand
    f"--component-updater=url-source={NOWHERE}",  # else update.googleapis.com for the list of on-device models
    f"--gaia-url={NOWHERE}",  # else accounts.google.com for signed-in accounts, for ever; pages reach it as before
    f"--autofill-server-url={NOWHERE}",  # else content-autofill.googleapis.com for every form
    "--disable-default-apps",  # web apps that Google Chrome installs from the network into a new profile
    "--disable-domain-reliability",  # reports about Google's own sites
    "--disable-sync",
    "--disable-breakpad",  # crash reports
    "--metrics-recording-only",  # no usage reports
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-search-engine-choice-screen",
)
STEADY: Final = (
    "--no-startup-window",  # windows come with contexts
    "--disable-gpu",  # none is expected; compositing in software is faster than SwiftShader through ANGLE
    "--enable-unsafe-swiftshader",  # WebGL in software, else maps and charts stay empty
    "--disable-dev-shm-usage",  # containers give /dev/shm 64 MB, and Chromium dies when it is full
    "--disable-field-trial-config",  # same features in every build
    "--disable-background-timer-throttling",  # the three together: tabs run at full speed though another is in front
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-back-forward-cache",  # Playwright does not see navigations that the cache answers
    "--disable-hang-monitor",  # no "page unresponsive" window; our own time limits end such pages
    "--disable-prompt-on-repost",
    "--allow-pre-commit-input",  # input right after a navigation counts
    "--force-color-profile=srgb",  # same colours in screenshots everywhere
    "--disable-infobars",  # a bar in the window takes height from the page
    "--mute-audio",
    "--password-store=basic",  # no key ring service is asked
    "--use-mock-keychain",
)
DISABLED_FEATURES: Final = (
    "NetworkTimeServiceQuerying",  # clients2.google.com at the start
    "OptimizationHints",  # hints for each page from optimizationguide-pa.googleapis.com
    "AimEnabled",  # www.google.com at the start
    "PreconnectToSearch",  # www.google.com at the start
    "WebUIOmniboxPopup",  # both: every window loads pages for the address bar ahead, at 40 MB and 0.5 s of CPU
    "WebUIOmniboxAimPopup",
    "MediaRouter",  # looks for Cast devices in the local network
    "LensOverlay",
    "HttpsUpgrades",  # http addresses are opened as they are given
    "HttpsFirstBalancedModeAutoEnable",
    "SpareRendererForSitePerProcess",  # else a first page shares the cores with the start of a spare process (12 ms)
    "DeferRendererTasksAfterInput",  # else what a click began is known only a frame later (12 ms)
    "PaintHolding",  # screenshots would show the page before
    "AvoidUnnecessaryBeforeUnloadCheckSync",  # Playwright could not close pages that have a beforeunload handler
    "DestroyProfileOnBrowserClose",  # slow and racy closing of contexts
    "AvoidCorsURLLoaderRestartOnRedirect",  # preflighted redirects fail while requests are intercepted
)
ENABLED_FEATURES: Final = (
    "CDPScreenshotNewSurface",  # screenshots of tabs in the background
    "SkipListAccountsWithoutGaiaCookies",  # newer Chromium: no request to accounts.google.com at all
)
NATURAL: Final = (
    "--disable-blink-features=AutomationControlled",  # navigator.webdriver is natively false
    # A mouse that can hover, as desktops have; no such device is found in a container.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    # The screen; else it is 1 x 1 pixel in ozone headless and 800 x 600 in the others, and popups are cut to it.
    # There is no --window-size: it would set the size of popups too.
    "--screen-info={1920x1080 workAreaBottom=48}",
)
GUARDED: Final = (
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # no UDP past the proxy; the second is for headless shell
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",  # UDP, too
    "--proxy-bypass-list=<-loopback>",  # loopback goes through the proxy like all else
)
# What Playwright 1.65 passes and this file leaves out on purpose, or replaces.
LEFT_OUT: Final = (
    "--disable-extensions",  # there are none; chrome.* is then as in a browser started by a person
    "--disable-component-extensions-with-background-pages",  # the same
    "--disable-popup-blocking",  # a person's browser blocks popups that no click asked for
    "--hide-scrollbars",  # kept for the light browser alone: in the full one the width of the page tells
    "--disable-ipc-flooding-protection",  # the protection keeps a page that navigates in a loop from starving the rest
    "--unsafely-disable-devtools-self-xss-warnings",  # for people at DevTools
    "--disable-stack-profiler",  # the last five are for Windows, macOS or Edge
    "--disable-updater-scheduler",
    "--disable-edgeupdater",
    "--edge-skip-compat-layer-relaunch",
    "--do-not-de-elevate",
)
# Not disabled, though Playwright does: third-party storage is partitioned in a person's browser.
LEFT_OUT_FEATURES: Final = (
    "ThirdPartyStoragePartitioning",
    "TcpPortRandomizationWin",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
PREFERENCES: Final[dict[str, Any]] = {
    "browser": {"enable_spellchecking": False},  # both: else a dictionary is downloaded at the first word typed
    "spellcheck": {"dictionaries": [], "dictionary": ""},
    "printing": {"enabled": False},  # print() would open a preview and hold the page
    "credentials_enable_service": False,  # no window that offers to save a password
    "profile": {"password_manager_leak_detection": False},  # Google Chrome asks about passwords that are typed
    "safebrowsing": {"enabled": False},  # Google Chrome asks about addresses and downloads
    "translate": {"enabled": False},  # asks for the list of languages at the first foreign page
}


def prepare_profile(folder: Path) -> Path:
    """Make an empty profile with our preferences below `folder`, and give its path."""
    profile = folder / "profile"
    (profile / "Default").mkdir(mode=0o700, parents=True)
    (profile / "Default" / "Preferences").write_text(json.dumps(PREFERENCES), encoding="utf-8")
    return profile


def launch_options(
    kind: Kind, executable: Path, *, sandbox: bool, proxy_server: str, profile: Path, headed_ozone: bool = True
) -> dict[str, Any]:
    """Keyword arguments of Playwright's `chromium.launch`.

    `proxy_server` (`http://host:port`) is the only way to the network. `profile` comes from `prepare_profile`; a folder
    serves one browser. `headed_ozone` starts the full browser headed, without a display (Linux); without it, in the
    new headless mode, whose user agent says HeadlessChrome.
    """
    headed = kind == "full" and headed_ozone
    mode = ["--ozone-platform=headless"] if headed else ["--headless"]
    if kind == "light":
        mode.append("--hide-scrollbars")
    if not sandbox:
        mode.append("--no-sandbox")
    proxy_host = urlsplit(proxy_server).hostname
    return {
        "executable_path": executable,
        "headless": not headed,
        "ignore_default_args": True,
        "args": [
            *QUIET,
            *STEADY,
            *NATURAL,
            *GUARDED,
            *mode,
            "--disable-features=" + ",".join(DISABLED_FEATURES),
            "--enable-features=" + ",".join(ENABLED_FEATURES),
            f"--proxy-server={proxy_server}",
            f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {proxy_host}",  # no name is resolved beside the proxy
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
        ],
        "handle_sigint": False,  # the service ends its browsers itself, after their work
        "handle_sigterm": False,
        "handle_sighup": False,
    }
