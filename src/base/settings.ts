import { z } from 'zod'
import { providersFile } from './providers/read-providers.ts'
import {
  bytes,
  choice,
  choices,
  cron,
  cronOrOff,
  duration,
  email,
  flag,
  integer,
  networks,
  optional,
  places,
  recordIds,
  setting,
  text,
  timeLimit,
  url,
  word,
} from './setting.ts'

/** A name or address without a scheme and a port: `0.0.0.0`, `::1`, `git.example.com`. */
const hostName = word(/^[a-z0-9._:-]{1,253}$/i, 'expected a host name or address')

/**
 * Every setting. `externalUrl` is `GITSTEAD_EXTERNAL_URL` in the environment and `external_url` in the file. The table in
 * docs/configuration.md is printed from this one: `npm run docs`.
 */
export const settings = {
  data: setting(text, './data', { doc: 'Folder that holds everything the server keeps' }),
  host: setting(hostName, '127.0.0.1', { doc: 'Address to listen on' }),
  port: setting(integer(0, 65_535), '8080', { doc: 'Port to listen on; 0 takes a free one' }),
  sshPort: optional(integer(0, 65_535), {
    doc: 'Port on which git over SSH is answered; 0 is off. Default: 2222, or none where that is in use',
  }),
  sshExternalHost: optional(hostName, {
    doc: 'Host in the SSH addresses of repositories. Default: that of the external URL',
  }),
  sshExternalPort: optional(integer(1, 65_535), {
    doc:
      'Port in the SSH addresses of repositories, where people reach another than the server listens on; also says that ' +
      "the system's sshd answers where `GITSTEAD_SSH_PORT` is 0",
  }),
  sshIdle: setting(timeLimit(), '10m', {
    doc: 'How long an SSH connection may stay open without a command',
  }),
  sshTrustedCa: optional(text, {
    doc: 'File with the public keys of authorities, a line each: keys over SSH that they have certified stand for the user whom the certificate names',
  }),
  sshRevokedKeys: optional(text, {
    doc: 'File of certificates that count no more: a line each with a public key, `serial: 7`, `serial: 7-9`, `id: name` or `sha256: SHA256:…`',
  }),
  externalUrl: optional(url('http', 'https'), {
    doc: 'Address under which people reach the server; links are made from it. Default: host and port',
  }),
  tlsCert: optional(text, {
    doc: 'PEM file of a certificate with its chain: the server speaks TLS by itself. Read anew when it changes',
  }),
  tlsKey: optional(text, { doc: 'PEM file of the key of this certificate' }),
  pages: setting(choice(['on', 'off']), 'on', {
    doc: 'Whether people find pages in the browser; `off` leaves git, the API and what programs ask for. Sign-in by a browser for OAuth applications, and the links of mails, need pages',
  }),
  rootToken: optional(z.string().min(16, 'expected at least 16 characters'), {
    secret: true,
    doc: 'Access token of the administrator `root`, at least 16 characters, used at the first start; without it one is made. In `root-token` of the data folder',
  }),
  rootPassword: optional(text, {
    secret: true,
    doc: 'Password of `root`, used at the first start; without it one is made, in `root-password` of the data folder',
  }),
  secretKey: optional(word(/^[0-9a-f]{64}$/i, 'expected 64 hexadecimal digits'), {
    secret: true,
    doc: 'Key (64 hexadecimal digits) that seals passwords of other servers; without it `secret.key` in the data folder',
  }),
  signInProviders: setting(providersFile, '', {
    doc: 'JSON file of the providers by which people may sign in beside passwords; see docs/oidc.md and docs/ldap.md',
  }),
  logLevel: setting(choice(['debug', 'info', 'warn', 'error']), 'info', {
    doc: 'The least that is logged',
  }),
  vendorPrefix: setting(word(/^[a-z][a-z0-9]{1,19}$/, 'expected a short lower-case word'), 'svc', {
    doc: 'Word in header names, file names and token prefixes that clients look for',
  }),
  trustedProxies: setting(networks, '', {
    doc: 'Addresses or networks of proxies whose `X-Forwarded-*` headers are believed',
  }),
  drainTime: setting(timeLimit('0'), '20s', {
    doc: 'How long running requests may go on after a stop signal',
  }),
  requestTimeout: setting(timeLimit(), '60s', {
    doc: 'How long a client may take to send headers',
  }),
  readerIdle: setting(timeLimit(), '30s', {
    doc: 'How long a client may take nothing of an answer that lies ready for it',
  }),

  engineProcesses: setting(integer(0, 64), '0', {
    doc: 'Processes that read and write repositories; 0 is one for each core, at most 4',
  }),
  engineMemory: setting(bytes('100m'), '180m', {
    doc: 'An engine process that grows beyond this is replaced; at least 100m',
  }),
  engineTimeout: setting(timeLimit(), '60s', { doc: 'Longest single operation on a repository' }),
  jobLogRetention: setting(duration, '0', {
    doc: 'How long logs of jobs that have ended are kept, such as `90d`; those of the newest successful pipeline of a branch or tag stay. 0 keeps them as long as their pipelines',
  }),
  archiveCache: setting(bytes(), '1g', {
    doc: 'Room for finished archives, which are sent again without being packed; 0 keeps none',
  }),
  gitProcesses: setting(integer(0, 1024), '0', {
    doc: 'git programs that run at once for clones and pushes; 0 is 8 for each core',
  }),
  gitWaiting: setting(integer(0, 100_000), '512', {
    doc: 'Clones and pushes that may wait; more are refused and may try again later',
  }),
  gitIdle: setting(timeLimit(), '60s', {
    doc: 'How long a client may send nothing in the middle of a clone, push or upload of a large file',
  }),
  gitTimeout: setting(timeLimit(), '1h', { doc: 'Longest single clone or push' }),

  maxBody: setting(bytes('1k'), '32m', { doc: 'Largest JSON or form body; at least 1k' }),
  maxAnonymousBody: setting(bytes(), '256k', {
    doc: 'Largest body of a caller who is not signed in',
  }),
  maxParameters: setting(integer(1, 100_000), '1000', {
    doc: 'Most parameters of a query or form',
  }),
  maxFormDepth: setting(integer(1, 1000), '32', {
    doc: 'Deepest nest of a parameter in a query or form',
  }),
  maxJsonDepth: setting(integer(1, 1000), '100', { doc: 'Deepest nest of a JSON body' }),
  maxJsonValues: setting(integer(1, 10_000_000), '200000', {
    doc: 'Most values of a JSON body, of whichever kind',
  }),
  bodyIdle: setting(timeLimit(), '30s', {
    doc: 'How long a client may send nothing of a body that it began',
  }),
  bodiesInFlight: setting(bytes(), '1g', {
    doc: 'Memory for bodies that are being read or worked on, in all',
  }),
  bodiesPerAddress: setting(bytes(), '512m', { doc: 'The same for one address' }),
  anonymousBodies: setting(bytes(), '16m', {
    doc: 'Memory for bodies of all callers who are not signed in; one address gets a quarter of it',
  }),
  uploadsInFlight: setting(bytes(), '8g', {
    doc: 'Disk for files of forms that are being uploaded, in all',
  }),
  uploadsPerAddress: setting(bytes(), '2g', { doc: 'The same for one address' }),
  maxQuery: setting(bytes('1k'), '8k', { doc: 'Longest request line; at least 1k' }),
  maxPush: setting(bytes(), '10g', { doc: 'Largest single push; 0 has no limit' }),
  maxLfsObject: setting(bytes(), '10g', { doc: 'Largest file in Git LFS; 0 has no limit' }),
  errorEventsPerMinute: setting(integer(0, 10_000_000), '300', {
    doc: 'Most events that one client key of error tracking may report in a minute; 0 has no limit',
  }),
  errorBytesPerMinute: setting(bytes(), '32m', {
    doc: 'Most bytes of such events in a minute, unpacked; 0 has no limit',
  }),
  maxProjectErrors: setting(bytes(), '2g', {
    doc: 'What a project keeps of reported errors; 0 has no limit',
  }),
  maxUpload: setting(bytes(), '100m', { doc: 'Largest uploaded attachment' }),
  maxAvatar: setting(bytes(), '200k', { doc: 'Largest avatar' }),
  maxPackageFile: setting(bytes(), '5g', { doc: 'Largest file of a package' }),
  maxProjectPackages: setting(bytes(), '0', {
    doc: 'Largest size of all packages and images of a project; 0 has no limit',
  }),
  npmUrl: setting(url('http', 'https'), 'https://registry.npmjs.org', {
    secret: true,
    doc: 'Where npm is sent for packages that are not here, where forwarding is on',
  }),
  pypiUrl: setting(url('http', 'https'), 'https://pypi.org', {
    secret: true,
    doc: 'The same for pip',
  }),
  mavenUrl: setting(url('http', 'https'), 'https://repo1.maven.org/maven2', {
    secret: true,
    doc: 'The same for Maven',
  }),
  packageCache: setting(bytes(), '0', {
    doc:
      'Room for what is fetched from there: callers who are signed in then get it from here, and again while the line is cut. ' +
      '0 keeps nothing, and sends clients there',
  }),
  virtualRegistryCache: setting(bytes(), '10g', {
    doc: 'Room for what all virtual registries have fetched, together; what was used longest ago goes first. 0 has no limit',
  }),
  maxBlob: setting(bytes(), '100m', { doc: 'Largest file that an edit through the API may write' }),
  maxOffset: setting(integer(0, 1_000_000_000), '50000', {
    doc: 'Deepest row of offset pagination where keyset pagination exists; 0 has no limit',
  }),
  rateLimit: setting(flag, 'false', { doc: 'Whether the general request limits below are on' }),
  rateLimitAnonymous: setting(integer(1, 1_000_000_000), '3600', {
    doc: 'Requests in an hour from one address without a token',
  }),
  rateLimitUser: setting(integer(1, 1_000_000_000), '7200', {
    doc: 'Requests in an hour from one user',
  }),
  rateLimitBypassHeader: optional(
    word(/^[a-z][a-z0-9-]{0,63}$/i, 'expected the name of a header'),
    {
      doc: 'Header that excepts a request from these limits when it says `1`; a proxy must take it from everybody else',
    },
  ),
  rateLimitExempt: setting(recordIds, '', { doc: 'Ids of users whom these limits do not hold' }),
  rateLimitDryRun: setting(
    choices(['throttle_authenticated_api', 'throttle_unauthenticated_api']),
    '',
    {
      doc: 'Limits that refuse nothing, and only log what they would refuse',
    },
  ),
  largeBlob: setting(bytes(), '10m', {
    doc: 'A file larger than this counts against the limit below',
  }),
  limitLargeBlobs: setting(integer(0, 1_000_000), '5', {
    doc: 'Large files in a minute for one user and project; 0 has no limit',
  }),
  limitArchives: setting(integer(0, 1_000_000), '5', {
    doc: 'Archives in a minute for one user and project; 0 has no limit',
  }),
  limitChangelogs: setting(integer(0, 1_000_000), '5', {
    doc: 'Changelogs in a minute for one user and project; 0 has no limit',
  }),

  x509Authorities: setting(text, '/etc/ssl/certs/ca-certificates.crt', {
    doc: 'PEM file of the authorities by which X.509 signatures of commits are trusted',
  }),
  smtpUrl: optional(url('smtp', 'smtps'), {
    secret: true,
    doc: 'Mail server, such as `smtp://user:password@mail.example.com:587`; without it mail becomes files in the folder `outbox`',
  }),
  mailFrom: setting(email, 'gitstead@localhost', { doc: 'Sender of mail' }),

  runner: setting(choice(['off', 'shell']), 'off', {
    doc:
      'Runs jobs beside the server: `shell` runs them as the user of the server, who can then read and change everything ' +
      'of it. Only for instances where everybody who may push is trusted as much as an administrator',
  }),
  runnerConcurrent: setting(integer(1, 1000), '1', {
    doc: 'Jobs that the runner beside the server runs at a time',
  }),

  backupFolder: optional(text, {
    doc: 'Folder for backups, best on another disk; `gitstead backup` uses it where none is named',
  }),
  backupSchedule: optional(cron, {
    doc: 'When the server makes a backup by itself, as five fields of cron in UTC, such as `30 2 * * *`; needs the folder and the passphrase',
  }),
  backupKeep: setting(integer(1, 10_000), '14', {
    doc: 'Backups of the schedule that are kept; older ones are removed once a newer one is whole',
  }),
  backupPassphraseFile: optional(text, {
    doc: 'File whose first line seals the secrets in backups. Keep the passphrase elsewhere too: without it a backup cannot be restored',
  }),

  healthSchedule: setting(cronOrOff, '15 4 * * *', {
    doc: 'When the server looks at its data as `gitstead doctor` does, as five fields of cron in UTC; `off` never does',
  }),
  accessLog: setting(text, 'off', {
    doc: 'Where each request is written down, a line of JSON each: `off`, `on` (standard error), or a file, which may be taken away to rotate it',
  }),
  slowRequest: setting(duration, '0', {
    doc: 'Requests that take longer than this, such as `10s`, are logged as `slow request`; 0 logs none',
  }),

  outboundAllow: setting(places, '', {
    doc:
      'Hosts, addresses or networks, each with an optional `:port`, that webhooks, mirrors and upstream registries may ' +
      'reach although they are private',
  }),
  outboundProxy: optional(url('http'), {
    secret: true,
    doc: 'HTTP proxy for everything that the server asks of others',
  }),
  outboundTimeout: setting(timeLimit(), '60s', { doc: 'Longest request to another server' }),
  outboundMaxSize: setting(bytes(), '64m', {
    doc: 'Largest answer of another server, unless a use says more',
  }),
} as const
