//! Names of variables that programs, shells or the loader read, and of those that only change what is displayed.

use crate::util::words::has_word;

/// Variables that change how a program displays and not what it runs.
static HARMLESS: &str = "\
    CI NODE_ENV FORCE_COLOR NO_COLOR CLICOLOR CLICOLOR_FORCE LANG LANGUAGE TZ TERM COLUMNS LINES RUST_BACKTRACE RUST_LOG \
    DEBUG VERBOSE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PORT CARGO_TERM_COLOR DJANGO_DEBUG FLASK_ENV \
    RAILS_ENV RACK_ENV MIX_ENV APP_ENV ENVIRONMENT LOG_LEVEL GIT_TERMINAL_PROMPT HUSKY UPDATE_SNAPSHOTS DEBIAN_FRONTEND \
    CGO_ENABLED GOOS GOARCH";

/// Lower-case names that programs and shells read, wherever they were set.
pub(super) static READ_LOWER_CASE: &str = "\
    http_proxy https_proxy ftp_proxy all_proxy no_proxy histchars auto_resume path cdpath fpath module_path aliases \
    galiases saliases functions commands options";

/// Returns true if a variable can be passed to programs without a question.
pub(crate) fn is_harmless(name: &str) -> bool {
    has_word(HARMLESS, name) || name.starts_with("LC_")
}

/// Names of variables that programs, shells or the loader read; `*` matches anything. Their values can change what is
/// run, where it is looked up, or what is loaded.
static READ_BY_PROGRAMS: &str = "\
    PATH *_PATH *PATH *_PATHS *_HOME HOME IFS ENV SHELL *SHELL *_SHELL CDPATH PS? PROMPT* FIGNORE GLOBIGNORE HIST* INPUTRC \
    MAIL* OPT* REPLY RANDOM SRANDOM SECONDS LINENO EPOCH* PWD OLDPWD UID EUID GID EGID PPID USER USERNAME LOGNAME HOSTNAME \
    HOSTTYPE MACHTYPE OSTYPE SHLVL SHELLOPTS BASH* ZSH* ZDOTDIR FUNC* DIRSTACK GROUPS PIPESTATUS COMP* MAPFILE READNULLCMD \
    NULLCMD TMOUT TIMEFORMAT EXECIGNORE CHILD_MAX POSIXLY* PARAMETERS ARGV* LD_* DYLD_* GLIBC_* MALLOC_* GCONV_* LOCPATH \
    NLSPATH RES_* HOSTALIASES LOCALDOMAIN TERMINFO* TERMCAP *PAGER *EDITOR VISUAL *BROWSER *_ASKPASS LESS* MORE MAN* GROFF* \
    GIT_* HG* SVN_* CVS* GH_* GLAB_* SSH_* RSYNC_* GPG* GNUPG* NODE_* NPM_* YARN_* PNPM_* BUN_* DENO_* COREPACK_* TS_* \
    TSX_* JEST_* VITE* WEBPACK_* BABEL_* ESLINT_* PRETTIER* ELECTRON_* PYTHON* PIP_* PIPENV_* POETRY_* UV_* VIRTUAL_ENV \
    CONDA_* PYTEST_* DJANGO_* FLASK_* COVERAGE_* TOX_* MYPY* RUFF_* JUPYTER_* IPYTHON* PERL* RUBY* GEM_* BUNDLE_* RAILS_* \
    RACK_* RBENV_* PHP* COMPOSER_* LUA_* JAVA_* _JAVA* JDK_* JVM_* MAVEN_* MVN_* GRADLE_* ANT_* SBT_* CLASSPATH KOTLIN_* GO \
    GOPATH GOROOT GOFLAGS GOBIN GOENV GOPROXY GOSUMDB GONO* GOPRIVATE GOINSECURE GOTOOL* GOWORK GOEXPERIMENT GODEBUG \
    GOCACHE* GOVCS GOTMPDIR GOMODCACHE GOOS GOARCH GO111MODULE GOAUTH CGO_* CARGO* RUST* CC CXX CPP LD AR AS NM RANLIB \
    STRIP OBJCOPY LINKER HOSTCC CROSS_* *FLAGS *_OPTS *_OPTIONS *_ARGS *_CMD *_COMMAND *_PROGRAM *_WRAPPER *_LAUNCHER \
    *_PRELOAD *_PLUGIN* *_CONFIG* *_RC *RC *_EXEC* *_HOOK* *_INIT* *_STARTUP* *_REQUIRE* *_LOADER* *_INTERPRETER *_PROXY \
    *_TOKEN *_CREDENTIALS MAKE* MFLAGS CMAKE_* NINJA_* MESON_* AUTOM4TE ACLOCAL* PKG_CONFIG* CCACHE_* DISTCC_* DOCKER_* \
    COMPOSE_* KUBE* HELM_* TF_* ANSIBLE_* VAGRANT_* AWS_* GOOGLE_* AZURE_* CLOUDSDK_* XDG_* DBUS_* DISPLAY WAYLAND_* GTK_* \
    QT_* GIO_* GST_* CURL_* SSL_* OPENSSL_* WGETRC TAR_* TAPE GREP_* RIPGREP_* FZF_* BAT_* FD_* AWK* GAWK* SED LOCALE* \
    FPATH MODULE_* FCEDIT SUDO_* PG* MYSQL_* REDISCLI_* SQLITE* PSQL* TMPDIR TMPPREFIX TERM_* INSIDE_* SYSTEMD_* NIX_* \
    HOMEBREW_* ASDF_* MISE_* RTX_* NVM_* PYENV_* SDKMAN_* DIRENV_* STARSHIP_* TMUX* VIM* NVIM* EMACS* EX* TERMINAL \
    SPILLWAY_*";

/// Returns true if a program may read a variable with an upper-case name.
pub(super) fn is_read_by_programs(name: &str) -> bool {
    READ_BY_PROGRAMS.split(' ').any(|known| {
        match (known.strip_prefix('*'), known.strip_suffix('*')) {
            (Some(rest), None) => name.ends_with(rest),
            (None, Some(rest)) => name.starts_with(rest),
            (Some(rest), Some(_)) => name.contains(rest.trim_end_matches('*')),
            _ => {
                name == known
                    || (known.ends_with('?')
                        && name.len() == known.len()
                        && name.starts_with(known.trim_end_matches('?')))
            }
        }
    })
}
