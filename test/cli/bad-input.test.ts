import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { gitstead } from '../support/command-line.ts'
import { newFolder } from '../support/database.ts'
import { openWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  // The commands run in the process of the server here: neither can wait while the other writes.
  world = await openWorld({}, { background: false })
  vi.stubEnv('GITSTEAD_RUNNER_URL', '')
  vi.stubEnv('GITSTEAD_RUNNER_TOKEN', '')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await world.close()
})

const backups = newFolder()
mkdirSync(join(backups, 'backups'), { recursive: true })

const runner = ['runner', '--url', 'http://127.0.0.1:9', '--token', 'none']
const carried = ['packages', 'import', '/', '--type', 'npm']

test.each([
  [[], 2, undefined],
  [[''], 2, "no command '', see gitstead --help"],
  [
    ['user'],
    2,
    "no command 'user', there are user create, user reset-password, user disable-two-factor",
  ],
  [['user', 'destroy'], 2, "no command 'user destroy', there are user create,"],
  [['--data', '/x', 'doctor'], 2, "no command '--data /x', see gitstead --help"],
  [['serve', '--port'], 2, 'argument missing (gitstead serve --help)'],
  [['runner', '--token', 'none'], 2, '--url is missing'],
  [['runner', '--url', 'http://127.0.0.1:9'], 2, '--token is missing'],
  [['runner', '--url', 'git.example', '--token', 'none'], 2, "--url is wrong: 'git.example'"],
  [[...runner, '--clone-url', 'ssh://a'], 2, "--clone-url is wrong: 'ssh://a'"],
  [[...runner, '--executor', 'wish'], 2, "no executor 'wish': shell or container"],
  [[...runner, '--concurrent', '0'], 2, '--concurrent must be a whole number from 1'],
  [[...runner, '--memory', '1.5'], 2, '--memory must be a whole number from 0'],
  [
    [...runner, '--processes', '-1'],
    2,
    "'--processes' argument is ambiguous (gitstead runner --help)",
  ],
  [[...runner, '--processes=-1'], 2, '--processes must be a whole number from 0'],
  [[...runner, '--unpacked', '0'], 2, '--unpacked must be a whole number from 1'],
  [[...runner, '--unpacked-files', 'x'], 2, '--unpacked-files must be a whole number from 1'],
  [[...runner, '--jobs', 'many'], 2, '--jobs must be a whole number from 0'],
  [['project', 'import'], 2, '<path-or-url> is missing'],
  [['project', 'import', '/'], 2, 'the project needs a name: --into group/name'],
  [['project', 'import', '/x', '--into', '/x'], 2, '--into is a full path such as group/name'],
  [['project', 'import', '/x', '--into', 'x/'], 2, '--into is a full path such as group/name'],
  [['project', 'import', '/x', '--into', 'nowhere/x'], 1, "there is no group or user 'nowhere'"],
  [['packages', 'import'], 2, '<folder> is missing'],
  [['packages', 'import', '/'], 2, '--type must be one of'],
  [
    ['packages', 'import', '/nowhere', '--type', 'npm', '--into', 'a/b'],
    2,
    '/nowhere is no folder',
  ],
  [carried, 2, '--into needs the full path of a project'],
  [[...carried, '--into', 'a/b'], 2, 'there is no project a/b'],
  [['user', 'disable-two-factor', 'nobody'], 1, "there is no user 'nobody'"],
  [['user', 'disable-two-factor', 'root'], 1, 'gitstead: Two-factor authentication is not enabled'],
  [['token', 'create', 'root', '--expires-at', '2020-01-01'], 1, 'gitstead: Expires at cannot be'],
  [['backup', 'create', '--to', '/proc/x', '--passphrase-file', '/etc/os-release'], 1, '/proc/x'],
  [[...runner, '--folder', '/proc/x'], 1, 'the folder /proc/x cannot be made'],
  [
    ['backup', 'create', '--to', '/tmp', '--passphrase-file', '/nowhere'],
    1,
    'the passphrase in /nowhere cannot be read (no such file or directory',
  ],
  [
    [
      'backup',
      'create',
      '--to',
      '/tmp/none',
      '--passphrase-file',
      '/etc/os-release',
      '--data',
      '/none',
    ],
    1,
    '/none holds nothing yet',
  ],
  [['backup', 'verify', '--from', backups, '--backup', 'other'], 1, 'holds no backup other'],
  [['packages', 'verify', 'more'], 2, "'more' is one too many"],
  [['version', '--json=yes'], 2, 'does not take an argument'],
])('%j ends with %i and one line', async (words, code, text) => {
  const ran = await gitstead(world.folder, words)
  expect(ran.code).toBe(code)
  expect(ran.served).toBeUndefined()
  if (text === undefined) return expect(ran.out).toContain('Usage: gitstead <command>')
  expect(ran.out).toBe('')
  expect(ran.err).toMatch(/^gitstead: [^\n]+\n$/)
  expect(ran.err).toContain(text)
})

/** Commands that read the settings; the others have tests of their own above. */
const onSettings = commands
  .filter(({ name }) => !['serve', 'runner', 'version'].includes(name))
  .map(({ name }) => name)
const good: Readonly<Record<string, readonly string[]>> = {
  'user create': ['ana', '--email', 'ana@example.com'],
  'user reset-password': ['root'],
  'user disable-two-factor': ['root'],
  'mail test': ['ana@example.com'],
  'token create': ['root'],
  'project import': ['/nowhere', '--into', 'root/x'],
  'packages import': ['/', '--type', 'npm', '--into', 'root/x'],
  'ssh-keys': ['git', 'ssh-ed25519', 'AAAA'],
  'ssh-serve': ['1'],
}

test.each(onSettings)('%s says in one line that a setting is wrong', async (name) => {
  const folder = newFolder()
  mkdirSync(folder, { recursive: true })
  try {
    writeFileSync(join(folder, 'gitstead.json'), '{"port": "x"}')
    // Without these it would be installed on this machine.
    const place = ['--print', '--data', folder, '--settings-file', join(folder, 'none.env')]
    const words = name === 'service install' ? place : (good[name] ?? [])
    const ran = await gitstead(folder, [...name.split(' '), ...words])
    expect([ran.code, ran.out]).toEqual([1, ''])
    expect(ran.err).toMatch(/^gitstead: port in [^\n]+ is wrong: "x" \(expected [^\n]+\)\n$/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

// Commands of backups ask for more before they look at the database, a service is installed before there is any, and those for the
// system's sshd ask the server.
const onDatabase = onSettings.filter((name) => !/^(?:backup |service |ssh-)/.test(name))

test.each(onDatabase)('%s says in one line that the database is none', async (name) => {
  const folder = newFolder()
  mkdirSync(folder, { recursive: true })
  try {
    writeFileSync(
      join(folder, 'gitstead.db'),
      'this is no database, however long it may be\n'.repeat(200),
    )
    const ran = await gitstead(folder, [...name.split(' '), ...(good[name] ?? [])])
    expect(ran.code).toBe(1)
    const said = name === 'doctor' ? ran.out : ran.err
    expect(said).toMatch(/(gitstead: |FAILURE database: )the database [^\n]+gitstead\.db [^\n]+\n/)
    expect(said).not.toContain('    at ')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
