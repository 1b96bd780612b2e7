"""Which names are keys and passwords: files that no agent is to read or write through us. Pure; any thread.

By name only: a file is never opened to find out. Names are compared without regard to case.
"""

import re
from collections.abc import Sequence

from vibekit_desktop.core.agent.name_tables import places, seen_as, words

_NAMES = words(
    """
    .netrc _netrc .authinfo .authinfo.gpg .pgpass pgpass.conf .my.cnf .mylogin.cnf .git-credentials .pypirc .dockercfg .htpasswd
    .htdigest .vault-token .vault_pass .vault_password .vault_pass.txt .s3cfg .boto .smbcredentials .credentials credentials
    credentials.json .credentials.json credentials.toml credentials.yml credentials.yaml credentials.yml.enc credentials.ini
    credentials.db client_secret.json client_secrets.json service-account.json service_account.json serviceaccount.json
    service-account-key.json service_account_key.json application_default_credentials.json oauth_creds.json google_accounts.json
    gcloud-service-key.json fastagent.secrets.yaml secring.gpg trustdb.gpg kubeconfig master.key key4.db key3.db logins.json
    login.keychain login.keychain-db wallet.dat .terraformrc terraform.rc .chamber .bash_history .zsh_history .psql_history
    .mysql_history .python_history .node_repl_history .sqlite_history fish_history
    """
)
_KEY_NAME = re.compile(r"id_(rsa|dsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk|xmss)([._-].*)?|ssh_host_[a-z0-9_]+_key")
_KEY_SUFFIXES = (".ppk", ".p8", ".p12", ".pfx", ".pkcs12", ".jks", ".keystore", ".bks", ".kdb", ".kdbx", ".keychain", ".ovpn")
_KEY_PEM = re.compile(r"(^|.*[._-])(key|privkey|priv|private|privatekey|secret|[a-z0-9]*key)[0-9]*([._-].*)?\.(pem|der)")
_MAYBE = (".pem", ".der", ".key")
_PUBLIC = re.compile(r"(^|.*[._-])(pub|public|pubkey|publickey|public-key|public_key)([._-].*)?\.(pem|der|key)")
_FOLDERS = frozenset({".ssh", ".gnupg", ".gpg", ".password-store", "private-keys-v1.d", "keychains", "keyrings", ".1password"})
_TAILS = places(
    """
    .aws/config .kube/config .docker/config.json .config/gh/hosts.yml .config/hub .config/rclone/rclone.conf
    .codex/auth.json .gemini/oauth_creds.json .local/share/opencode/auth.json .vibe/.env .kimi/config.toml .config/op/config
    .config/containers/auth.json .azure/accesstokens.json .azure/msal_token_cache.json etc/shadow etc/gshadow etc/shadow-
    etc/gshadow- etc/sudoers etc/krb5.keytab .claude.json
    """
)
_TREES = places(
    """
    .config/gcloud .mozilla/firefox .config/google-chrome .config/chromium .config/bravesoftware .thunderbird .aws/sso
    .aws/cli .kube/cache .config/op etc/sudoers.d etc/ssl/private library/cookies .azure/tokens
    """
)
_PUBLIC_IN_SSH = frozenset({"config", "known_hosts", "known_hosts.old", "authorized_keys"})


def is_key_name(name: str) -> bool:
    """Whether a file of this name is a key, or holds passwords."""
    seen = seen_as(name)
    if seen.endswith(".pub") or _PUBLIC.fullmatch(seen):
        return False
    if seen in _NAMES or _KEY_NAME.fullmatch(seen) or seen.endswith(_KEY_SUFFIXES):
        return True
    if seen.endswith(".key"):
        return True
    return _KEY_PEM.fullmatch(seen) is not None


def may_hold_key(name: str) -> bool:
    """Whether a file of this name may be a certificate, or a private key, or both: nobody knows without opening it."""
    return seen_as(name).endswith(_MAYBE)


def is_secret(parts: Sequence[str], *, writing: bool = True) -> bool:
    """Whether a path is a key or holds passwords, by its last name or by the folders that it lies in. Who reads may see which
    hosts and public keys are known in ``.ssh``; who writes may not touch anything there."""
    if not parts:
        return False
    seen = [seen_as(part) for part in parts]
    if is_key_name(parts[-1]):
        return True
    for at, part in enumerate(seen[:-1]):
        if part in _FOLDERS:
            public = part == ".ssh" and at == len(seen) - 2 and (seen[-1] in _PUBLIC_IN_SSH or seen[-1].endswith(".pub"))
            return writing or not public
    if seen[-1] in _FOLDERS:
        return True
    if any(tuple(seen[-len(tail) :]) == tail for tail in _TAILS):
        return True
    return any(tuple(seen[at : at + len(tree)]) == tree for tree in _TREES for at in range(len(seen) - len(tree) + 1))
