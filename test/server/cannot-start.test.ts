import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openApp } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/base/config.ts'
import { silentLog } from '../../src/base/log.ts'
import { productVersion } from '../../src/base/version.ts'
import { listeningLines } from '../../src/http/listener/listening.ts'
import { startFailure } from '../../src/store/sqlite/start-failure.ts'
import { gitstead } from '../support/command-line.ts'
import { newFolder } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { isThere } from '../support/needed.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { newTestFolder } from '../support/test-folder.ts'
import { openWorld } from '../support/world.ts'

const root = new URL('../../', import.meta.url).pathname
const isRoot = process.getuid?.() === 0
/** Somebody to whom nothing here belongs, where the tests run as somebody who may do everything. */
const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups', '--']
const mayBeNobody = isThere(
  'setpriv, and a clone that everybody may read',
  spawnSync('setpriv', [...asNobody, 'test', '-r', join(root, 'scripts/start.mjs')]).status === 0,
)

/** A data folder that a server has used, and that server. */
let used = ''
let server: ServerProcess
beforeAll(async () => {
  used = newFolder()
  server = await startServerProcess(used)
  await vi.waitFor(() => expect(server.said()).toContain('The administrator is root'))
  await server.stop()
  return () => rmSync(used, { recursive: true, force: true })
}, 60_000)

/** A copy of it, that the test may break. */
function copyOfUsed(): string {
  const folder = newTestFolder()
  // A socket of the server's is no file to copy.
  cpSync(used, folder, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  return folder
}

function run(program: readonly string[], env: Readonly<Record<string, string>>, nobody = false) {
  const words = [process.execPath, ...program]
  const [first = '', ...rest] = nobody ? ['setpriv', ...asNobody, ...words] : words
  return spawnSync(first, rest, {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
    env: {
      PATH: process.env.PATH,
      GITSTEAD_PORT: '0',
      GITSTEAD_SSH_PORT: '0',
      GITSTEAD_ENGINE_PROCESSES: '1',
      ...env,
    },
  })
}

/** What the server says when it does not start: one line, and nothing else. */
function saidAtStart(env: Readonly<Record<string, string>>, nobody = false): string {
  const { status, stdout, stderr } = run(['scripts/start.mjs'], env, nobody)
  expect([status, stdout]).toEqual([1, ''])
  // A warning about the folder is a line of the log.
  const said = stderr.replaceAll(/^\{.*\}\n/gm, '')
  expect(said).toMatch(/^gitstead: [^\n]+\n$/)
  return said.slice('gitstead: '.length, -1)
}

/** Why a server does not start, without a process of its own, which says nothing else (`saidAtStart`). */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  try {
    const settings = { GITSTEAD_PORT: '0', GITSTEAD_SSH_PORT: '0', ...env }
    const app = await openApp(readConfig(settings), { log: silentLog })
    await app.close()
  } catch (error) {
    const said = startFailure(error) ?? String(error)
    expect(said).toMatch(/^[^\n]+$/)
    return said
  }
  throw new Error('the server starts')
}

/** What a command says that cannot work. */
async function refusalOfCommand(data: string, ...words: string[]): Promise<string> {
  const { code, out, err } = await gitstead(data, words)
  expect([code, out]).toEqual([1, ''])
  // A warning about the folder is a line of the log.
  const said = err.replaceAll(/^\{.*\}\n/gm, '')
  expect(said).toMatch(/^gitstead: [^\n]+\n$/)
  return said.slice('gitstead: '.length, -1)
}

const userCreate = ['user', 'create', 'ana', '--email', 'ana@example.com']

describe('a data folder', () => {
  test.each([
    ['is a file', 'file', 'the data folder %s is no folder, but a file'],
    ['is a link to nowhere', 'link', 'the data folder %s is a link that leads to nowhere'],
  ])('that %s is refused by the server and by commands', async (_title, name, text) => {
    const folder = newTestFolder()
    writeFileSync(join(folder, 'file'), '')
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link'))
    const data = join(folder, name)
    const expected = text.replace('%s', data)
    expect(await refusal({ GITSTEAD_DATA: data })).toContain(expected)
    expect(await refusalOfCommand(data, ...userCreate)).toContain(expected)
  })

  test('is named in one line by the processes of both, which end with 1', () => {
    const data = join(newTestFolder(), 'file')
    writeFileSync(data, '')
    const expected = `the data folder ${data} is no folder, but a file`
    expect(saidAtStart({ GITSTEAD_DATA: data })).toContain(expected)
    const command = ['scripts/gitstead.mjs', ...userCreate, '--data', data]
    const { status, stdout, stderr } = run(command, {})
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^gitstead: [^\n]+\n$/)
    expect(stderr).toContain(expected)
  })

  test('that a command names by mistake is not made', async () => {
    const data = join(newTestFolder(), 'typo')
    expect(await refusalOfCommand(data, ...userCreate)).toBe(
      `${data} holds nothing yet: start the server there once`,
    )
    expect(existsSync(data)).toBe(false)
  })

  test.skipIf(isRoot && !mayBeNobody)('that this user may not write is refused', () => {
    const data = newTestFolder()
    chmodSync(data, 0o555)
    onTestFinished(() => chmodSync(data, 0o755))
    expect(saidAtStart({ GITSTEAD_DATA: data }, isRoot)).toContain(
      `the data folder ${data} cannot be read and written`,
    )
    expect(saidAtStart({ GITSTEAD_DATA: join(data, 'new') }, isRoot)).toMatch(
      /^the data folder \S+ cannot be made \(permission denied, mkdir .*, has no right to it\): see GITSTEAD_DATA$/,
    )
  })

  test.skipIf(!isRoot || !mayBeNobody)('that belongs to somebody else names both users', () => {
    const data = copyOfUsed()
    chmodSync(data, 0o755)
    expect(saidAtStart({ GITSTEAD_DATA: data }, true)).toBe(
      `the data folder ${data} cannot be read and written: it belongs to user 0, and this is user 65534`,
    )
  })
})

describe('a database', () => {
  test('that is marked read-only is refused', async () => {
    const data = copyOfUsed()
    chmodSync(join(data, 'gitstead.db'), 0o444)
    expect(await refusal({ GITSTEAD_DATA: data })).toBe(
      `the database ${data}/gitstead.db is read-only`,
    )
  })

  test.each([
    ['something else', 0, 'is not a database'],
    ['damaged', 4096, 'is damaged'],
  ])('that is %s is refused', async (_title, from, text) => {
    const data = copyOfUsed()
    overwrite(join(data, 'gitstead.db'), from)
    expect(await refusal({ GITSTEAD_DATA: data })).toContain(
      `the database ${data}/gitstead.db ${text}`,
    )
  })

  test('of a newer program is refused, and both versions are named', async () => {
    const data = copyOfUsed()
    const database = new Database(join(data, 'gitstead.db'))
    database.exec("INSERT INTO schema_migrations VALUES ('9999-later', '99.1.0', '2099-01-01')")
    database.close()
    const said = await refusal({ GITSTEAD_DATA: data })
    expect(said).toContain('the database was written by Gitstead 99.1.0 (9999-later)')
    expect(said).toContain(`this is Gitstead ${productVersion}`)
    expect(said).toContain('start the newer program')
  })
})

test('a key that is damaged is named', async () => {
  const data = copyOfUsed()
  writeFileSync(join(data, 'secret.key'), 'no key')
  expect(await refusal({ GITSTEAD_DATA: data })).toBe(
    `the key ${data}/secret.key is damaged (expected 64 hexadecimal digits): put it back from a backup`,
  )
})

describe('settings', () => {
  test('of a file that is no JSON are refused', async () => {
    const data = newTestFolder()
    writeFileSync(join(data, 'gitstead.json'), '{')
    expect(await refusal({ GITSTEAD_DATA: data })).toContain(`${data}/gitstead.json cannot be read`)
  })

  test('that cannot be are refused', async () => {
    expect(await refusal({ GITSTEAD_DATA: newTestFolder(), GITSTEAD_PORT: '99999' })).toContain(
      'GITSTEAD_PORT is wrong: "99999" (expected a whole number',
    )
  })

  test('that name an address of another machine are refused', () => {
    const env = { GITSTEAD_DATA: newTestFolder(), GITSTEAD_HOST: '203.0.113.9' }
    expect(saidAtStart(env)).toContain('GITSTEAD_HOST must be an address of this machine')
  })

  test('that name a port in use are refused', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    const said = saidAtStart({ GITSTEAD_DATA: copyOfUsed(), GITSTEAD_PORT: String(port) })
    expect(said).toBe(`127.0.0.1:${port} is in use: choose another GITSTEAD_PORT`)
    expect(saidAtStart({ GITSTEAD_DATA: copyOfUsed(), GITSTEAD_SSH_PORT: String(port) })).toBe(
      `127.0.0.1:${port} is in use: choose another GITSTEAD_SSH_PORT, or 0 for no git over SSH`,
    )
  })

  test.skipIf(isRoot && !mayBeNobody)(
    'that name a port which needs more rights are refused',
    () => {
      const data = copyOfUsed()
      if (isRoot) execFileSync('chown', ['-R', '65534', data])
      const said = saidAtStart({ GITSTEAD_DATA: data, GITSTEAD_PORT: '79' }, isRoot)
      expect(said).toBe(
        '127.0.0.1:79 needs more rights: choose a GITSTEAD_PORT from 1024 on, or let `gitstead service install` give it the right',
      )
    },
  )
})

test.skipIf(!isRoot || !mayBeNobody)('a clone that must be compiled by its owner says so', () => {
  const clone = newTestFolder()
  for (const name of ['scripts', 'src', 'package.json', 'package-lock.json']) {
    cpSync(join(root, name), join(clone, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  chmodSync(clone, 0o755)
  const { status, stdout, stderr } = spawnSync(
    'setpriv',
    [...asNobody, process.execPath, join(clone, 'scripts/start.mjs')],
    { encoding: 'utf8', timeout: 60_000 },
  )
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /^gitstead: set-up cannot work in \S+ \(EACCES: [^\n]+\): run it as the owner of the clone\n$/,
  )
})

describe('a server that listens', () => {
  test('names its address once', () => {
    expect(server.said().split(server.url)).toHaveLength(2)
    expect(server.said()).not.toContain('GITSTEAD_EXTERNAL_URL')
  })

  /** What a server says once it listens as it is set, without a process of its own. */
  async function saidAs(given: Partial<Config>): Promise<string> {
    const world = await openWorld({ port: await freePort(), ...given })
    onTestFinished(() => world.close())
    // As for every server with a TCP port.
    const { address, port } = world.app.server.address() as AddressInfo
    return listeningLines(world.app.config, address, port).join('\n')
  }

  test.each(['0.0.0.0', '::'])('on %s says that others cannot follow its links', async (host) => {
    expect(await saidAs({ host })).toMatch(
      /listens on http:\/\/(?:0\.0\.0\.0|\[::\]):(\d+), links lead to http:\/\/localhost:\1\n.*set GITSTEAD_EXTERNAL_URL to/,
    )
  })

  test('on all addresses says nothing where the address of links was given', async () => {
    const said = await saidAs({ host: '0.0.0.0', externalUrl: 'https://git.example.com' })
    expect(said).toMatch(/, links lead to https:\/\/git\.example\.com$/)
    expect(said).not.toContain('GITSTEAD_EXTERNAL_URL')
  })
})

/** Zeros from a place on to the end. */
function overwrite(path: string, from: number): void {
  const database = new Database(path)
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  const { size } = statSync(path)
  truncateSync(path, from)
  truncateSync(path, size)
}

test('a signal ends a server that is still starting', async () => {
  const data = newTestFolder()
  const words = [join(root, 'scripts/gitstead.mjs'), 'serve', '--data', data, '--port', '0']
  const env = { PATH: process.env.PATH, GITSTEAD_SSH_PORT: '0', GITSTEAD_ENGINE_PROCESSES: '1' }
  const child = spawn(process.execPath, words, { env, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  await vi.waitFor(() => expect(existsSync(join(data, 'server.lock'))).toBe(true), 30_000)
  child.kill('SIGTERM')
  await vi.waitFor(() => expect(isOver()).toBe(true), 20_000)
}, 60_000)
