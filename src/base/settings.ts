import {
  bytes,
  choice,
  choices,
  duration,
  email,
  flag,
  integer,
  networks,
  optionalText,
  optionalUrl,
  optionalWord,
  places,
  recordIds,
  text,
  timeLimit,
  url,
  word,
} from './setting.ts'

/**
 * Every setting. `externalUrl` is `GITSTEAD_EXTERNAL_URL` in the environment and `external_url` in the file. The table in
 * docs/configuration.md is printed from this one: `npm run docs`.
 */
export const settings = {
  data: text('./data', { doc: 'Folder that holds everything the server keeps' }),
  host: text('127.0.0.1', { doc: 'Address to listen on' }),
  port: integer(8080, { min: 0, max: 65_535 }, { doc: 'Port to listen on; 0 takes a free one' }),
  externalUrl: optionalUrl(['http:', 'https:'], {
    doc: 'Address under which people reach the server; links are made from it. Default: host and port',
  }),
  rootToken: optionalText({
    secret: true,
    doc: 'Access token of the administrator `root`, used at the first start; without it one is made. In `root-token` of the data folder',
  }),
  rootPassword: optionalText({
    secret: true,
    doc: 'Password of `root`, used at the first start; without it one is made, in `root-password` of the data folder',
  }),
  secretKey: optionalWord(/^[0-9a-f]{64}$/i, 'expected 64 hexadecimal digits', {
    secret: true,
    doc: 'Key (64 hexadecimal digits) that seals passwords of other servers; without it `secret.key` in the data folder',
  }),
  logLevel: choice('info', ['debug', 'info', 'warn', 'error'], { doc: 'The least that is logged' }),
  vendorPrefix: word('svc', /^[a-z][a-z0-9]{1,19}$/, 'expected a short lower-case word', {
    doc: 'Word in header names, file names and token prefixes that clients look for',
  }),
  trustedProxies: networks({
    doc: 'Addresses or networks of proxies whose `X-Forwarded-*` headers are believed',
  }),
  drainTime: timeLimit('20s', {
    mayBeNone: true,
    doc: 'How long running requests may go on after a stop signal',
  }),
  requestTimeout: timeLimit('60s', { doc: 'How long a client may take to send headers' }),

  engineProcesses: integer(
    0,
    { min: 0, max: 64 },
    { doc: 'Processes that read and write repositories; 0 is one for each core, at most 4' },
  ),
  engineMemory: bytes(
    '180m',
    { doc: 'An engine process that grows beyond this is replaced; at least 100m' },
    '100m',
  ),
  engineTimeout: timeLimit('60s', { doc: 'Longest single operation on a repository' }),
  jobLogRetention: duration('0', {
    doc: 'How long logs of jobs that have ended are kept, such as `90d`; those of the newest successful pipeline of a branch or tag stay. 0 keeps them as long as their pipelines',
  }),
  archiveCache: bytes('1g', {
    doc: 'Room for finished archives, which are sent again without being packed; 0 keeps none',
  }),
  gitProcesses: integer(
    0,
    { min: 0, max: 1024 },
    { doc: 'git programs that run at once for clones and pushes; 0 is 8 for each core' },
  ),
  gitWaiting: integer(
    512,
    { min: 0, max: 100_000 },
    { doc: 'Clones and pushes that may wait; more are refused and may try again later' },
  ),
  gitIdle: timeLimit('60s', {
    doc: 'How long a client may send nothing in the middle of a clone, push or upload of a large file',
  }),
  gitTimeout: timeLimit('1h', { doc: 'Longest single clone or push' }),

  maxBody: bytes('32m', { doc: 'Largest JSON or form body; at least 1k' }, '1k'),
  maxAnonymousBody: bytes('256k', { doc: 'Largest body of a caller who is not signed in' }),
  maxParameters: integer(
    1000,
    { min: 1, max: 100_000 },
    { doc: 'Most parameters of a query or form' },
  ),
  maxFormDepth: integer(
    32,
    { min: 1, max: 1000 },
    { doc: 'Deepest nest of a parameter in a query or form' },
  ),
  maxJsonDepth: integer(100, { min: 1, max: 1000 }, { doc: 'Deepest nest of a JSON body' }),
  maxJsonValues: integer(
    200_000,
    { min: 1, max: 10_000_000 },
    { doc: 'Most values of a JSON body, of whichever kind' },
  ),
  bodyIdle: timeLimit('30s', { doc: 'How long a client may send nothing of a body that it began' }),
  bodiesInFlight: bytes('1g', {
    doc: 'Memory for bodies that are being read or worked on, in all',
  }),
  bodiesPerAddress: bytes('512m', { doc: 'The same for one address' }),
  anonymousBodies: bytes('16m', {
    doc: 'Memory for bodies of all callers who are not signed in; one address gets a quarter of it',
  }),
  uploadsInFlight: bytes('8g', { doc: 'Disk for files of forms that are being uploaded, in all' }),
  uploadsPerAddress: bytes('2g', { doc: 'The same for one address' }),
  maxQuery: bytes('8k', { doc: 'Longest request line; at least 1k' }, '1k'),
  maxPush: bytes('10g', { doc: 'Largest single push; 0 has no limit' }),
  maxLfsObject: bytes('10g', { doc: 'Largest file in Git LFS; 0 has no limit' }),
  errorEventsPerMinute: integer(
    300,
    { min: 0, max: 10_000_000 },
    {
      doc: 'Most events that one client key of error tracking may report in a minute; 0 has no limit',
    },
  ),
  errorBytesPerMinute: bytes('32m', {
    doc: 'Most bytes of such events in a minute, unpacked; 0 has no limit',
  }),
  maxProjectErrors: bytes('2g', {
    doc: 'What a project keeps of reported errors; 0 has no limit',
  }),
  maxUpload: bytes('100m', { doc: 'Largest uploaded attachment' }),
  maxAvatar: bytes('200k', { doc: 'Largest avatar' }),
  maxPackageFile: bytes('5g', { doc: 'Largest file of a package' }),
  maxProjectPackages: bytes('0', {
    doc: 'Largest size of all packages and images of a project; 0 has no limit',
  }),
  npmUrl: url('https://registry.npmjs.org', ['http:', 'https:'], {
    secret: true,
    doc: 'Where npm is sent for packages that are not here, where forwarding is on',
  }),
  pypiUrl: url('https://pypi.org', ['http:', 'https:'], { secret: true, doc: 'The same for pip' }),
  mavenUrl: url('https://repo1.maven.org/maven2', ['http:', 'https:'], {
    secret: true,
    doc: 'The same for Maven',
  }),
  packageCache: bytes('0', {
    doc:
      'Room for what is fetched from there: callers who are signed in then get it from here, and again while the line is cut. ' +
      '0 keeps nothing, and sends clients there',
  }),
  maxBlob: bytes('100m', { doc: 'Largest file that an edit through the API may write' }),
  maxOffset: integer(
    50_000,
    { min: 0, max: 1_000_000_000 },
    { doc: 'Deepest row of offset pagination where keyset pagination exists; 0 has no limit' },
  ),
  rateLimit: flag(false, { doc: 'Whether the general request limits below are on' }),
  rateLimitAnonymous: integer(
    3600,
    { min: 1, max: 1_000_000_000 },
    { doc: 'Requests in an hour from one address without a token' },
  ),
  rateLimitUser: integer(
    7200,
    { min: 1, max: 1_000_000_000 },
    { doc: 'Requests in an hour from one user' },
  ),
  rateLimitBypassHeader: optionalWord(/^[a-z][a-z0-9-]{0,63}$/i, 'expected the name of a header', {
    doc: 'Header that excepts a request from these limits when it says `1`; a proxy must take it from everybody else',
  }),
  rateLimitExempt: recordIds({ doc: 'Ids of users whom these limits do not hold' }),
  rateLimitDryRun: choices(['throttle_authenticated_api', 'throttle_unauthenticated_api'], {
    doc: 'Limits that refuse nothing, and only log what they would refuse',
  }),
  largeBlob: bytes('10m', { doc: 'A file larger than this counts against the limit below' }),
  limitLargeBlobs: integer(
    5,
    { min: 0, max: 1_000_000 },
    { doc: 'Large files in a minute for one user and project; 0 has no limit' },
  ),
  limitArchives: integer(
    5,
    { min: 0, max: 1_000_000 },
    { doc: 'Archives in a minute for one user and project; 0 has no limit' },
  ),
  limitChangelogs: integer(
    5,
    { min: 0, max: 1_000_000 },
    { doc: 'Changelogs in a minute for one user and project; 0 has no limit' },
  ),

  x509Authorities: text('/etc/ssl/certs/ca-certificates.crt', {
    doc: 'PEM file of the authorities by which X.509 signatures of commits are trusted',
  }),
  smtpUrl: optionalUrl(['smtp:', 'smtps:'], {
    secret: true,
    doc: 'Mail server, such as `smtp://user:password@mail.example.com:587`; without it mail becomes files in the folder `outbox`',
  }),
  mailFrom: email('gitstead@localhost', { doc: 'Sender of mail' }),

  runner: choice('off', ['off', 'shell'], {
    doc:
      'Runs jobs beside the server: `shell` runs them as the user of the server, who can then read and change everything ' +
      'of it. Only for instances where everybody who may push is trusted as much as an administrator',
  }),

  outboundAllow: places({
    doc:
      'Hosts, addresses or networks, each with an optional `:port`, that webhooks, mirrors and upstream registries may ' +
      'reach although they are private',
  }),
  outboundProxy: optionalUrl(['http:'], {
    secret: true,
    doc: 'HTTP proxy for everything that the server asks of others',
  }),
  outboundTimeout: timeLimit('60s', { doc: 'Longest request to another server' }),
  outboundMaxSize: bytes('64m', {
    doc: 'Largest answer of another server, unless a use says more',
  }),
} as const
