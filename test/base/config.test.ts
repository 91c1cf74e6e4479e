import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  configTable,
  environmentName,
  makeConfig,
  readConfig,
  unknownSettings,
  withPort,
} from '../../src/base/config.ts'
import { settings } from '../../src/base/settings.ts'
import { StartError } from '../../src/base/start-error.ts'
import { findFreePort } from '../../src/http/listener/free-port.ts'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('without any setting', () => {
  test('a server listens on this machine only, and keeps its data in ./data', () => {
    const config = readConfig({})
    expect(config).toMatchObject({
      data: join(process.cwd(), 'data'),
      host: '127.0.0.1',
      port: 8080,
      externalUrl: 'http://127.0.0.1:8080',
      maxQuery: 8192,
      trustedProxies: [],
    })
  })
})

describe('the file and the environment', () => {
  const path = join(folder, 'gitstead.json')

  test('the file in the data folder is read, and the environment wins over it', () => {
    writeFileSync(
      path,
      JSON.stringify({
        port: 9000,
        host: '0.0.0.0',
        outbound_allow: ['git.example.com', '10.0.0.7'],
      }),
    )
    const config = readConfig({ GITSTEAD_DATA: folder, GITSTEAD_HOST: '127.0.0.2' })
    expect(config).toMatchObject({
      data: folder,
      port: 9000,
      host: '127.0.0.2',
      outboundAllow: ['git.example.com', '10.0.0.7'],
    })
  })

  test.each([
    ['{"prot": 1}', `prot in ${path} is no setting`],
    ['{"port": {}}', `port in ${path} is wrong (expected a text, a number, a flag or a list)`],
    ['{"data": "x"}', `data in ${path} would move the folder that holds the file`],
    ['[]', `the configuration file ${path} must hold one JSON object`],
  ])('a file that says %s stops the start', (content, message) => {
    writeFileSync(path, content)
    expect(() => readConfig({ GITSTEAD_DATA: folder })).toThrow(message)
  })

  test('a file that is named but missing stops the start', () => {
    expect(() => readConfig({ GITSTEAD_CONFIG: join(folder, 'none.json') })).toThrow(
      /^the configuration file .*none\.json cannot be read \(no such file/,
    )
  })
})

test.each([
  [
    'GITSTEAD_PORT',
    'http',
    'GITSTEAD_PORT is wrong: "http" (expected a whole number from 0 to 65535)',
  ],
  [
    'GITSTEAD_HOST',
    'http://0.0.0.0',
    'GITSTEAD_HOST is wrong: "http://0.0.0.0" (expected a host name or address)',
  ],
  ['GITSTEAD_PORT', '65536', 'GITSTEAD_PORT is wrong: "65536" (expected a whole number from 0'],
  [
    'GITSTEAD_EXTERNAL_URL',
    'example.com',
    'GITSTEAD_EXTERNAL_URL is wrong: "example.com" (expected a URL',
  ],
  [
    'GITSTEAD_MAX_PUSH',
    '10 apples',
    'GITSTEAD_MAX_PUSH is wrong: "10 apples" (expected a size such as',
  ],
  ['GITSTEAD_DRAIN_TIME', 'soon', 'GITSTEAD_DRAIN_TIME is wrong: "soon" (expected a time such as'],
  [
    'GITSTEAD_LOG_LEVEL',
    'loud',
    'GITSTEAD_LOG_LEVEL is wrong: "loud" (expected one of debug, info',
  ],
  [
    'GITSTEAD_RATE_LIMIT',
    'maybe',
    'GITSTEAD_RATE_LIMIT is wrong: "maybe" (expected true or false)',
  ],
  [
    'GITSTEAD_TRUSTED_PROXIES',
    '10.0.0.0/33',
    'GITSTEAD_TRUSTED_PROXIES is wrong: "10.0.0.0/33" (expected',
  ],
  [
    'GITSTEAD_VENDOR_PREFIX',
    'A B',
    'GITSTEAD_VENDOR_PREFIX is wrong: "A B" (expected a short lower-case word)',
  ],
  ['GITSTEAD_SMTP_URL', 'ftp://u:hush@h', 'GITSTEAD_SMTP_URL is wrong (expected a URL that begins'],
])('%s=%s stops the start with one line that names it', (name, value, message) => {
  let said = ''
  try {
    readConfig({ [name]: value })
  } catch (error) {
    said = (error as Error).message
  }
  expect(said).toContain(message)
  expect(said).not.toContain('\n')
  expect(said).not.toContain('hush')
})

/** Values that no setting of the name may have; what is written after `=` must not be shown. */
const wrong: Record<keyof typeof settings, readonly string[]> = {
  data: [' '],
  host: [' '],
  port: ['-1', '80.5', '0x50', '8080 8081'],
  sshPort: ['-1', '65536', 'ssh'],
  sshExternalHost: ['a b', 'git@host', 'http://host'],
  sshExternalPort: ['0', '65536'],
  sshIdle: ['0', '25d'],
  sshTrustedCa: [' '],
  sshRevokedKeys: [' '],
  externalUrl: ['//git.example.com', 'javascript:alert(1)', 'https://'],
  tlsCert: [' '],
  tlsKey: [' '],
  pages: ['yes', 'OFF', '0'],
  rootToken: [' ', 'fifteen-letters'],
  rootPassword: [' '],
  secretKey: ['zz', 'a'.repeat(63)],
  signInProviders: ['/nowhere/providers.json', '/etc/hostname'],
  logLevel: ['INFO'],
  vendorPrefix: ['x', 'gít', '9lives'],
  trustedProxies: ['10.0.0.1:80', 'proxy.example.com'],
  drainTime: ['-1s', '25d', '1e3'],
  requestTimeout: ['0', '30d'],
  readerIdle: ['0'],
  engineProcesses: ['65', 'all'],
  engineMemory: ['-1', '180 megs', '0', '99m'],
  engineTimeout: ['0s', '25d'],
  jobLogRetention: ['90 years'],
  archiveCache: ['1.5g'],
  gitProcesses: ['1025'],
  gitWaiting: ['100001'],
  gitIdle: ['0', '9999999d'],
  gitTimeout: ['0', '30d'],
  maxBody: ['0', '32mm'],
  maxAnonymousBody: ['x'],
  maxParameters: ['0'],
  maxFormDepth: ['1001'],
  maxJsonDepth: ['0'],
  maxJsonValues: ['10000001'],
  bodyIdle: ['0'],
  bodiesInFlight: ['much'],
  bodiesPerAddress: ['much'],
  anonymousBodies: ['much'],
  uploadsInFlight: ['much'],
  uploadsPerAddress: ['much'],
  maxQuery: ['8x', '0', '1000'],
  maxPush: ['-1'],
  maxLfsObject: ['-1'],
  errorEventsPerMinute: ['-1'],
  errorBytesPerMinute: ['much'],
  maxProjectErrors: ['-1'],
  maxUpload: ['100 m b'],
  maxAvatar: ['k'],
  maxPackageFile: ['5t'],
  maxProjectPackages: ['5t'],
  npmUrl: ['registry.example.com', 'ftp://user:hush@registry.example.com'],
  pypiUrl: ['pypi'],
  mavenUrl: ['file:///srv'],
  virtualRegistryCache: ['-1'],
  packageCache: ['none'],
  maxBlob: ['none'],
  maxOffset: ['1000000001'],
  rateLimit: ['2'],
  rateLimitAnonymous: ['0'],
  rateLimitUser: ['0'],
  rateLimitBypassHeader: ['x bypass', ':x', '1x'],
  rateLimitExempt: ['ana', '0', '-1', '1.5'],
  rateLimitDryRun: ['throttle_web', 'yes'],
  largeBlob: ['x'],
  limitLargeBlobs: ['-1'],
  limitArchives: ['1000001'],
  limitChangelogs: ['x'],
  x509Authorities: [' '],
  smtpUrl: ['mail.example.com'],
  mailFrom: ['nobody', 'Git <git@example.com>', 'a@b,c@d'],
  runner: ['docker'],
  runnerConcurrent: ['0', 'all'],
  backupFolder: [' '],
  backupSchedule: ['tomorrow', '* * * *', '0 0 30 2 *', '@daily'],
  backupKeep: ['0', 'all'],
  backupPassphraseFile: [' '],
  healthSchedule: ['on', '* * *', '61 * * * *'],
  accessLog: [' '],
  slowRequest: ['-1s', 'fast'],
  outboundAllow: ['!!', '10.0.0.0/33', '10.0.0.300', 'a:0', 'a:65536', '*.example.com', 'http://a'],
  outboundProxy: ['https://user:hush@proxy', 'proxy:3128'],
  outboundTimeout: ['0', '60000000000'],
  outboundMaxSize: ['-'],
}

test.each(Object.entries(wrong).flatMap(([key, values]) => values.map((value) => [key, value])))(
  '%s: %j stops the start with one line that names the setting and says what it should be',
  (key = '', value = '') => {
    const name = environmentName(key)
    const secret = settings[key as keyof typeof settings].secret
    const shown = secret ? '' : `: ${JSON.stringify(value.trim())}`
    const started = () => readConfig({ GITSTEAD_DATA: folder, [name]: value })
    rmSync(join(folder, 'gitstead.json'), { force: true })
    expect(started).toThrow(StartError)
    expect(started).toThrow(`${name} is wrong${shown} (expected `)
    expect(started).not.toThrow(/\n|hush/)
  },
)

test('hosts that may be asked are names, addresses and networks, each with an optional port', () => {
  const given =
    'git.example.com git.example.com:8443 localhost:80, 10.0.0.7 10.0.0.0/8 10.0.0.7:22 fd00::/8 [fd00::1]:443 my_host.'
  const { outboundAllow } = readConfig({ GITSTEAD_DATA: folder, GITSTEAD_OUTBOUND_ALLOW: given })
  expect(outboundAllow).toEqual(given.split(/[\s,]+/))
})

test('times that limit something reach from one second to what a timer can count', () => {
  const config = readConfig({
    GITSTEAD_DATA: folder,
    GITSTEAD_GIT_TIMEOUT: '24d',
    GITSTEAD_GIT_IDLE: '1',
  })
  expect(config.gitIdle).toBe(1000)
  expect(config.gitTimeout).toBeLessThan(2 ** 31)
  expect(readConfig({ GITSTEAD_DATA: folder, GITSTEAD_DRAIN_TIME: '0' }).drainTime).toBe(0)
})

test('a start on an address that is not of this machine says which setting to change', async () => {
  await expect(findFreePort('nowhere.invalid')).rejects.toThrow(
    /^cannot listen on nowhere\.invalid:0 \(.*\): GITSTEAD_HOST must be an address of this machine$/,
  )
  await expect(findFreePort('203.0.113.9')).rejects.toBeInstanceOf(StartError)
})

test('sizes and times have units', () => {
  expect(readConfig({ GITSTEAD_MAX_BODY: '2m', GITSTEAD_GIT_TIMEOUT: '90' })).toMatchObject({
    maxBody: 2 * 1024 * 1024,
    gitTimeout: 90_000,
  })
})

test('the address of links follows host and port, and has no slash at its end', () => {
  expect(makeConfig({ host: '::1', port: 80 }).externalUrl).toBe('http://[::1]:80')
  expect(withPort(makeConfig({ port: 0 }), 4321)).toMatchObject({
    port: 4321,
    externalUrl: makeConfig({ port: 4321 }).externalUrl,
  })
  const known = makeConfig({ port: 0, externalUrl: 'https://git.example.com' })
  expect(withPort(known, 4321).externalUrl).toBe('https://git.example.com')
  expect(readConfig({ GITSTEAD_EXTERNAL_URL: 'https://git.example.com/' }).externalUrl).toBe(
    'https://git.example.com',
  )
})

test('the table for the README has a line for each setting', () => {
  expect(configTable().split('\n')).toContain(
    '| `GITSTEAD_PORT` | `port` | `8080` | Port to listen on; 0 takes a free one |',
  )
})

test('a variable that is misspelt is named with the setting that was meant', () => {
  expect(
    unknownSettings({
      GITSTEAD_EXTERNAL_URI: 'https://git.example.com',
      GITSTEAD_BACKUP_SCHEDUL: '30 2 * * *',
      GITSTEAD_SOMETHING_ELSE_ALTOGETHER: '1',
      GITSTEAD_PORT: '1',
      GITSTEAD_RUNNER_TOKEN: 'x',
      PATH: '/bin',
    }),
  ).toEqual([
    'GITSTEAD_BACKUP_SCHEDUL is no setting and has no effect: did you mean GITSTEAD_BACKUP_SCHEDULE?',
    'GITSTEAD_EXTERNAL_URI is no setting and has no effect: did you mean GITSTEAD_EXTERNAL_URL?',
    'GITSTEAD_SOMETHING_ELSE_ALTOGETHER is no setting and has no effect',
  ])
})
