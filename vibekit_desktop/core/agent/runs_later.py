"""Which files other programs run by themselves later: who writes them gets code run without anybody asking for it.

By name only, without regard to case: build files, package scripts, hooks, editor tasks, CI, what shells read at their start.
Rather too many than too few: all that it costs is a question. Pure; any thread.
"""

import re
from collections.abc import Sequence

from vibekit_desktop.core.agent.name_tables import places, seen_as, words

_NAMES = words(
    """
    makefile gnumakefile bsdmakefile cmakelists.txt cmakepresets.json cmakeuserpresets.json meson.build meson_options.txt
    meson.options sconstruct sconscript wscript build build.bazel workspace workspace.bazel module.bazel .bazelrc .bazeliskrc
    justfile .justfile taskfile.yml taskfile.yaml noxfile.py fabfile.py dodo.py rakefile gemfile guardfile procfile
    procfile.dev dangerfile fastfile podfile brewfile capfile thorfile tiltfile earthfile vagrantfile jakefile jakefile.js
    cakefile gulpfile gruntfile magefile.go

    package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js pnpm-workspace.yaml bunfig.toml deno.json
    deno.jsonc lerna.json nx.json project.json turbo.json rush.json nodemon.json .nodemonrc karma.conf.js
    .babelrc .swcrc .huskyrc .lintstagedrc .eslintrc .mocharc.json .mocharc.yml .mocharc.yaml .nycrc electron-builder.yml

    setup.py setup.cfg pyproject.toml conftest.py sitecustomize.py usercustomize.py tox.ini pytest.ini .pythonrc .pythonrc.py
    pip.conf pip.ini hatch.toml hatch_build.py pdm.toml buildout.cfg sitecustomize usercustomize pythonstartup.py

    build.rs cargo.toml rust-toolchain rust-toolchain.toml build.zig build.zig.zon build.sbt build.sc build.mill pom.xml mvnw
    mvnw.cmd build.xml gradlew gradlew.bat gradle.properties nuget.config packages.config global.json package.swift mix.exs
    rebar.config rebar.config.script setup.hs setup.lhs stack.yaml cabal.project dune dune-project dune-workspace composer.json
    artisan makefile.pl build.pl cpanfile .rprofile .renviron makevars config.ru .irbrc .pryrc .rspec spec_helper.rb
    rails_helper.rb pubspec.yaml build.yaml project.clj deps.edn build.boot shadow-cljs.edn premake5.lua xmake.lua conanfile.py
    conanfile.txt vcpkg.json manifest.scm guix.scm flake.nix configure configure.ac configure.in autogen.sh bootstrap
    bootstrap.sh makefile.am makefile.in config.site

    dockerfile containerfile compose.yml compose.yaml docker-compose.yml docker-compose.yaml docker-bake.hcl
    docker-bake.json devcontainer.json .devcontainer.json .gitpod.yml .gitpod.dockerfile skaffold.yaml .pre-commit-config.yaml
    .pre-commit-hooks.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml lefthook-local.yml .overcommit.yml
    .simple-git-hooks.json .simple-git-hooks.cjs .gitmodules .gitattributes .gitconfig .lfsconfig .hgrc .gitlab-ci.yml
    .travis.yml .drone.yml .drone.jsonnet appveyor.yml .appveyor.yml jenkinsfile bitbucket-pipelines.yml cloudbuild.yaml
    cloudbuild.yml .cirrus.yml .cirrus.star buildspec.yml wercker.yml codemagic.yaml codeship-steps.yml bitrise.yml action.yml
    action.yaml screwdriver.yaml .woodpecker.yml .woodpecker.yaml netlify.toml vercel.json firebase.json fly.toml render.yaml
    serverless.yml app.yaml now.json wrangler.toml

    .envrc .env .tool-versions .mise.toml mise.toml .mise.local.toml mise.local.toml .rtx.toml .asdfrc devbox.json devenv.nix
    .sdkmanrc .nvim.lua .nvimrc .exrc .vimrc .gvimrc .ideavimrc .dir-locals.el .dir-locals-2.el .emacs .project .buildpath
    .mcp.json mcp.json opencode.json opencode.jsonc .aider.conf.yml .cursorrules .gdbinit .lldbinit .radare2rc .sqliterc
    .psqlrc .inputrc .screenrc .tmux.conf .curlrc .wgetrc

    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .cshrc
    .tcshrc .login .logout .kshrc .mkshrc config.fish .xinitrc .xsession .xprofile .xsessionrc .xserverrc crontab autorun.inf
    desktop.ini profile.ps1 microsoft.powershell_profile.ps1

    applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit
    pre-rebase post-checkout post-merge pre-push pre-receive post-receive post-update reference-transaction
    push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change
    """
)
_SUFFIXES = (
    ".mk", ".mak", ".cmake", ".bzl", ".gemspec", ".gradle", ".gradle.kts", ".sbt", ".csproj", ".fsproj", ".vbproj", ".vcxproj",
    ".proj", ".targets", ".props", ".sln", ".slnx", ".pbxproj", ".xcscheme", ".xcconfig", ".cabal", ".nix", ".rockspec", ".pth",
    ".code-workspace", ".iml", ".sublime-project", ".sublime-build", ".dockerfile", ".desktop", ".service", ".timer", ".socket",
    ".ebuild", ".spec", ".tf", ".nomad", ".workflow", ".podspec", ".opam", ".m4", ".pri", ".pro", ".lnk", ".url",
    ".webloc", ".command", ".reg",
)  # fmt: skip
_PROSE = (".md", ".rst", ".adoc")
_PATTERNS = re.compile(
    r"""
    .+\.config\.[cm]?[jt]s                              # what JavaScript's tools load: vite, webpack, eslint, jest ...
    | \..+rc\.([cm]?[jt]s|json|ya?ml|toml)              # .eslintrc.js, .lintstagedrc.json
    | (gulpfile|gruntfile|jakefile|webpackfile|snowpack|karma\.conf|protractor\.conf|wdio\.conf)\..+
    | \.env\..+ | .+\.env                               # .env.local, production.env
    | dockerfile\..+ | containerfile\..+ | makefile\..+ | jenkinsfile\..+ | vagrantfile\..+
    | (docker-)?compose\..+\.ya?ml | docker-compose-.+\.ya?ml
    | azure-pipelines.*\.ya?ml
    | (pre|post)?(build|install|configure|bootstrap|publish|deploy|release|prepare|setup|make|ci)
      \.(sh|bash|zsh|fish|py|rb|pl|js|mjs|cjs|ts|ps1|bat|cmd|nu)
    | requirements.*\.(txt|in) | constraints.*\.txt
    | .+\.plugin\.(zsh|js)
    | ninja\.build | build\.ninja
    """,
    re.VERBOSE,
)
_FOLDERS = words(
    """
    .vscode .idea .fleet .zed .vs .cursor .theia .devcontainer .settings .run .husky .githooks .git-hooks githooks git-hooks
    .circleci .buildkite .semaphore .gitea .forgejo .woodpecker .teamcity .ci .direnv .mise .mvn .cargo .bundle .yarn
    .claude .gemini .codex .opencode .qwen .vibe .kimi .goose .continue .roo .windsurf .amazonq .augment .kiro .aider
    .clinerules autostart systemd launchagents launchdaemons cron.d cron.daily cron.hourly cron.weekly cron.monthly init.d
    profile.d
    """
)
_TREES = places(
    """
    .github/workflows .github/actions .github/scripts .gitlab/ci gradle/wrapper gradle/init.d debian/rules .config/fish
    .config/nvim .config/direnv .config/git project/plugins.sbt
    """
)


def runs_later(parts: Sequence[str]) -> bool:
    """Whether something other than the agent runs a file of this path by itself, by its last name or its folders."""
    if not parts:
        return False
    seen = [seen_as(part) for part in parts]
    name = seen[-1]
    if not name.endswith(_PROSE) and (name in _NAMES or name.endswith(_SUFFIXES) or _PATTERNS.fullmatch(name)):
        return True
    if any(part in _FOLDERS for part in seen):
        return True
    return any(tuple(seen[at : at + len(tree)]) == tree for tree in _TREES for at in range(len(seen) - len(tree) + 1))
