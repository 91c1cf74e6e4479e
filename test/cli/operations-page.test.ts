import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig, unknownSettings } from '../../src/base/config.ts'
import { gitstead } from '../support/command-line.ts'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { isThere } from '../support/needed.ts'
import { openWorld, type World } from '../support/world.ts'

const run = promisify(execFile)

function page(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
}

/** The blocks of a page in a language, each with the heading above it. */
function blocksOf(text: string, language: string) {
  const found = text.matchAll(/^## (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm)
  let heading = ''
  const blocks: { heading: string; text: string }[] = []
  for (const [, title, of, body = ''] of found) {
    if (title !== undefined) heading = title
    else if (of === language) blocks.push({ heading, text: body })
  }
  return blocks
}

const lines = blocksOf(page('operations.md'), 'sh').flatMap(({ heading, text }) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ heading, line: line.replace(/\s+# .*$/, '') })),
)

let world: World
let folder = ''
/** The words of a line, with folders of this test in the places of those of the page. */
const words = (line: string) =>
  placed(line)
    .split(/\s+/)
    .map((word) => word.replaceAll("'", ''))
const placed = (text: string) =>
  text
    .replaceAll('/backups', join(folder, 'backups'))
    .replaceAll('/media/disk', folder)
    .replaceAll('/srv/', `${folder}/srv/`)
    .replaceAll('/etc/gitstead-passphrase', join(folder, 'passphrase'))

beforeAll(async () => {
  folder = newFolder()
  mkdirSync(join(folder, 'srv'))
  writeFileSync(join(folder, 'passphrase'), 'correct horse battery\n')
  world = await openWorld()
  await createProject(world.root, 'demo', { initialize_with_readme: true })
  // The page says how to get things back before it says how to copy them.
  const ran = await command('gitstead backup create --to /backups --incremental')
  expect([ran.err.includes('FAILURE'), ran.code]).toEqual([false, 0])
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

function command(line: string) {
  const [, ...rest] = words(line)
  const settings = { GITSTEAD_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase') }
  return gitstead(world.folder, rest, '', settings)
}

/** How each line of the page is tried; one that fits none of these fails the test. */
const ways: readonly (readonly [RegExp, (line: string) => Promise<void>])[] = [
  [
    /^gitstead serve/,
    async (line) => {
      const { served } = await command(line)
      expect(served?.GITSTEAD_DATA).toBe(join(folder, 'srv/gitstead-new'))
    },
  ],
  [
    /^gitstead /,
    async (line) => {
      const { code, out, err } = await command(line)
      // A machine that is full or slow is not what is asked here.
      expect([code, out.includes('FAILURE'), err.startsWith('gitstead: ')]).toEqual([
        0,
        false,
        false,
      ])
    },
  ],
  [
    // Installing needs root, and a machine without our service: here it says what it would write.
    /^sudo (\.|\/opt\/[\w.-]+)\/gitstead service install/,
    async (line) => {
      const rest = line.replace(/^sudo \S+/, '').trim()
      const given = [...rest.split(/\s+/), '--print', '--user', 'games']
      const more = ['--settings-file', join(folder, 'gitstead.env'), '--data', world.folder]
      const { code, out } = await gitstead(world.folder, [...given, ...more])
      expect(code).toBe(0)
      expect(out).toContain(`Restart=`)
    },
  ],
  [
    /^sudo (systemctl (status|restart|stop)|journalctl -u) gitstead( --since today)?$/,
    async () => expect(page('operations.md')).toContain('/etc/systemd/system/gitstead.service'),
  ],
  [
    /^sudo cat \/var\/lib\/gitstead\/root-password$/,
    async () => expect(existsSync(join(world.folder, 'gitstead.db'))).toBe(true),
  ],
  [
    /^sudo tar -xzf gitstead-/,
    async (line) => {
      // As the bundle is called: version, platform, Node.
      expect(line).toMatch(/gitstead-\d+\.\d+\.\d+-linux-x64-node20\.tar\.gz -C \/opt$/)
    },
  ],
  [
    /^GITSTEAD_/,
    async (line) => {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(placed(line)) ?? []
      // A schedule is refused without the folder and the passphrase that it needs.
      const needed = {
        GITSTEAD_BACKUP_FOLDER: join(folder, 'backups'),
        GITSTEAD_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase'),
      }
      const own = { ...needed, [name]: value.replaceAll("'", '') }
      expect(() => readConfig(own)).not.toThrow()
      expect(unknownSettings(own)).toEqual([])
    },
  ],
  [
    /^(curl|df|du) /,
    async (line) => {
      const environment = {
        ...process.env,
        TOKEN: world.root.token ?? '',
        URL: world.url,
        GITSTEAD_DATA: world.folder,
      }
      const failing = line.startsWith('curl') ? line.replace('curl', 'curl --fail') : line
      await run('/bin/sh', ['-c', placed(failing)], { cwd: folder, env: environment })
    },
  ],
]

describe('the page for operators', () => {
  test.each(lines)('$heading: $line', { timeout: 120_000 }, async ({ line }) => {
    const way = ways.find(([form]) => form.test(line))
    expect(way, `nobody runs "${line}"`).toBeDefined()
    await way?.[1](line)
  })

  test('names its own headings', () => {
    const text = page('operations.md')
    const anchors = [...text.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    const named = [...text.matchAll(/\]\(#([\w-]+)\)/g)].map(([, name]) => name)
    expect(named.filter((name) => !anchors.includes(name ?? ''))).toEqual([])
  })
})

const nginx = ['/usr/sbin/nginx', 'nginx'].find((path) => spawnSync(path, ['-v']).status === 0)

test.skipIf(!isThere('nginx', nginx !== undefined))('nginx takes the examples as they are', () => {
  const [whole, locations, map] = blocksOf(page('proxy-and-tls.md'), 'nginx').map(
    ({ text }) => text,
  )
  const inside = /location \/ \{\n([\s\S]*?)\n {2}\}/.exec(whole ?? '')?.[1] ?? ''
  expect(inside).toContain('proxy_pass')
  const lent = inside.replace(/^\s*proxy_pass.*$/m, '')
  const server = (text: string) =>
    `server { listen 127.0.0.1:1443 ssl; ssl_certificate ${folder}/c.pem; ssl_certificate_key ${folder}/k.pem; ${text} }`
  const filled = (text = '') => text.replaceAll('…', () => `${lent}\n`)
  const [ofMap = '', ...rest] = filled(map).split('\n')
  const below = rest
    .join('\n')
    .replace(/^server \{/, '')
    .replace(/\}\s*$/, '')
  for (const text of [whole ?? '', server(filled(locations)), `${ofMap}\n${server(below)}`]) {
    expect(tested(text)).toContain('test is successful')
  }
})

/** What nginx says of a configuration, with a certificate of this test. */
function tested(http: string): string {
  const pem = ['-keyout', join(folder, 'k.pem'), '-out', join(folder, 'c.pem')]
  const how = [
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '1',
    '-subj',
    '/CN=git.example.com',
  ]
  spawnSync('openssl', ['req', ...how, ...pem])
  const own = http
    .replaceAll('/etc/ssl/git.example.com.pem', join(folder, 'c.pem'))
    .replaceAll('/etc/ssl/git.example.com.key', join(folder, 'k.pem'))
  const conf = join(folder, 'nginx.conf')
  writeFileSync(conf, `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${own}\n}\n`)
  const ran = spawnSync(nginx ?? '', ['-t', '-e', join(folder, 'e.log'), '-c', conf, '-p', folder])
  return String(ran.stderr)
}
