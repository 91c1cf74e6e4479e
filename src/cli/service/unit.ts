/** What the unit of systemd is made of. */
export interface UnitFacts {
  /** The `gitstead` script, by its whole path. */
  readonly program: string
  /** The folder of the node that it is to run with. */
  readonly nodeFolder: string
  readonly user: string
  readonly data: string
  readonly settings: string
  /** Whether it listens on a port that only the super-user may use. */
  readonly isPortLow: boolean
  /** Other folders that it writes to, such as that of the backups. */
  readonly writes: readonly string[]
}

/** Least port that anybody may listen on. */
export const leastFreePort = 1024

/**
 * The unit. The server gets rights to its data folder and to nothing else that can be written, none to become somebody else, and
 * only the one to listen on a low port where it needs that. Memory that is both written and run cannot be refused: V8 compiles.
 */
export function serviceUnit(facts: UnitFacts): string {
  const { program, nodeFolder, user, data, settings, isPortLow, writes } = facts
  const capability = isPortLow ? 'CAP_NET_BIND_SERVICE' : ''
  return `[Unit]
Description=Gitstead
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
User=${user}
Group=${user}
UMask=0077
Environment=${quoted(`PATH=${nodeFolder}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`)}
EnvironmentFile=-${escaped(settings)}
ExecStart=${quoted(program)} serve --data ${quoted(data)}
WorkingDirectory=${escaped(data)}
# With code 1 it has said why it cannot start, and would say it again.
Restart=on-failure
RestartPreventExitStatus=1
RestartSec=2
TimeoutStopSec=60
KillMode=mixed
LimitNOFILE=65536

AmbientCapabilities=${capability}
CapabilityBoundingSet=${capability}
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=${isBelowHome(data) || isBelowHome(program) ? 'no' : 'yes'}
ReadWritePaths=${[data, ...writes].map(quoted).join(' ')}
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`
}

function isBelowHome(path: string): boolean {
  return /^\/(home|root|run\/user)(\/|$)/.test(path)
}

/** Percent signs mean something to systemd. */
function escaped(value: string): string {
  return value.replaceAll('%', '%%')
}

function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value)
    ? escaped(value)
    : `"${escaped(value).replace(/["\\]/g, '\\$&').replaceAll('$', '$$$$')}"`
}
