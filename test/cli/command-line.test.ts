import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { openProgress } from '../../src/cli/progress.ts'
import { gitstead } from '../support/command-line.ts'

let data = ''
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'gitstead-cli-'))
})
afterEach(() => rmSync(data, { recursive: true, force: true }))

test('the overview lists every command', async () => {
  const { code, out, err } = await gitstead(data, ['--help'])
  expect(code).toBe(0)
  expect(err).toBe('')
  for (const { name, summary } of commands) {
    expect(out).toContain(`  ${name}`)
    expect(out).toContain(summary)
  }
})

test.each(commands.map(({ name }) => name))(
  '%s shows its help and does nothing else',
  async (name) => {
    const { code, out, served } = await gitstead(data, [...name.split(' '), '--help'])
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^Usage: gitstead ${name}`))
    expect(out).toContain('--json')
    expect(served).toBeUndefined()
  },
)

test.each([
  [['wat'], "no command 'wat', see gitstead --help"],
  [['doctor', '--wat'], "Unknown option '--wat' (gitstead doctor --help)"],
  [['doctor', 'more'], "'more' is one too many (gitstead doctor --help)"],
])('%j is refused in one line with exit code 2', async (words, text) => {
  const { code, out, err } = await gitstead(data, words)
  expect(code).toBe(2)
  expect(out).toBe('')
  expect(err).toBe(`gitstead: ${text}\n`)
})

test('the version is one line for people and one document for programs', async () => {
  const text = await gitstead(data, ['version'])
  expect(text.out).toMatch(/^gitstead \d+\.\d+\.\d+ \(node [\d.]+, git [\d.]+\)\n$/)
  const json = await gitstead(data, ['version', '--json'])
  expect(JSON.parse(json.out)).toMatchObject({ node: process.versions.node })
})

test('options of serve come before the environment', async () => {
  const words = ['serve', '--data', '/srv/git', '--port', '9999']
  const { served } = await gitstead(data, words)
  expect(served).toEqual({ GITSTEAD_DATA: '/srv/git', GITSTEAD_PORT: '9999' })
})

test('progress is rewritten on a terminal and rare in a log', () => {
  let time = 0
  const written = { terminal: '', log: '' }
  const terminal = openProgress(
    { isTTY: true, write: (text) => (written.terminal += text) },
    () => time,
  )
  const log = openProgress({ write: (text) => (written.log += text) }, () => time)
  for (; time < 6000; time += 1000) {
    terminal.say(`${time}`)
    log.say(`${time}`)
  }
  terminal.end()
  log.end()
  expect(written.log).toBe('5000\n')
  expect(written.terminal.split('\r\x1b[K')).toEqual([
    '',
    '0',
    '1000',
    '2000',
    '3000',
    '4000',
    '5000',
    '',
  ])
})

test('a command whose output nobody reads ends as well as others', () => {
  const script = '"$0" scripts/gitstead.mjs help | true; echo "$PIPESTATUS"'
  const cwd = new URL('../../', import.meta.url)
  const { stdout, stderr } = spawnSync('bash', ['-c', script, process.execPath], {
    cwd,
    encoding: 'utf8',
  })
  expect([stdout, stderr]).toEqual(['0\n', ''])
})
