import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isRunning, processMark } from '../../src/base/process-mark.ts'

const supervise = fileURLToPath(new URL('../../scripts/supervise', import.meta.url))

let folder: string
let supervisor: ChildProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitstead-supervise-'))
})
afterEach(async () => {
  if (supervisor?.exitCode === null && supervisor.signalCode === null) {
    supervisor.kill('SIGTERM')
    await once(supervisor, 'exit')
  }
  supervisor = undefined
  rmSync(folder, { recursive: true, force: true })
})

/** A server of a few lines, which writes its pid into a file that grows with each start. */
function writeServer(script: string): string {
  const path = join(folder, 'server.sh')
  writeFileSync(path, `echo "$$ $(date +%s%3N)" >> ${folder}/starts\n${script}\n`)
  return path
}

const waits = `trap 'echo stopped > ${'$'}0.end; exit 0' TERM\nwhile :; do sleep 0.05; done`

function start(script: string, program = supervise, args: readonly string[] = []): ChildProcess {
  const given = args.length > 0 ? args : ['A=b', 'sh', writeServer(script)]
  supervisor = spawn(program, given, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  return supervisor
}

/** Whole lines only: a pid of 0, from a file that is not written yet, would kill all that runs the tests. */
function starts(): { pid: number; at: number }[] {
  const path = join(folder, 'starts')
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').matchAll(/^([1-9]\d*) (\d+)\n/gm)
  return [...lines].map(([, pid, at]) => ({ pid: Number(pid), at: Number(at) }))
}

async function started(count: number): Promise<string> {
  await expect.poll(() => starts().length, { timeout: 10_000, interval: 20 }).toBe(count)
  return processMark(starts().at(-1)?.pid ?? 0) ?? ''
}

async function codeOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit')
  return child.exitCode
}

const wasStopped = () => existsSync(join(folder, 'server.sh.end'))

describe('a supervisor', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'passes %s on and ends with the server',
    async (signal) => {
      const child = start(waits)
      const server = await started(1)
      child.kill(signal)
      expect(await codeOf(child)).toBe(0)
      expect(wasStopped()).toBe(true)
      expect(isRunning(server)).toBe(false)
    },
  )

  test('starts a server that was killed again within a second', async () => {
    start(waits)
    await started(1)
    const [first] = starts()
    const killed = Date.now()
    if (first) process.kill(first.pid, 'SIGKILL')
    await started(2)
    expect((starts()[1]?.at ?? 0) - killed).toBeLessThan(1000)
  })

  test('waits longer each time for one that keeps dying, and is stopped while it waits', async () => {
    const child = start('kill -SEGV $$')
    await started(4)
    const [one, two, three, four] = starts().map(({ at }) => at)
    expect((three ?? 0) - (two ?? 0)).toBeGreaterThanOrEqual(1000)
    expect((four ?? 0) - (three ?? 0)).toBeGreaterThanOrEqual(2000)
    expect((two ?? 0) - (one ?? 0)).toBeLessThan(1000)
    child.kill('SIGTERM')
    expect(await codeOf(child)).toBe(0)
    expect(starts()).toHaveLength(4)
  }, 20_000)

  test('starts one again that ended after a fault of its own', async () => {
    start('exit 70')
    await started(2)
  })

  test('does not start one again that says it cannot start', async () => {
    expect(await codeOf(start('exit 1'))).toBe(1)
    expect(starts()).toHaveLength(1)
  })

  test('that is killed takes the server with it, in order', async () => {
    const child = start(waits)
    const server = await started(1)
    child.kill('SIGKILL')
    await expect.poll(() => isRunning(server)).toBe(false)
    expect(wasStopped()).toBe(true)
  })
})

test.each(['SIGTERM', 'SIGKILL'] as const)(
  '%s to npm stops the server',
  async (signal) => {
    const server = writeServer(waits)
    const scripts = { start: `exec ${supervise} A=b sh ${server}` }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'x', scripts }))
    const npm = start('', 'npm', ['start'])
    const mark = await started(1)
    npm.kill(signal)
    await expect.poll(() => isRunning(mark)).toBe(false)
    expect(wasStopped()).toBe(true)
  },
  20_000,
)

test('npm start runs the server below its supervisor', () => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { scripts } = JSON.parse(text) as { scripts: { start: string } }
  expect(scripts.start).toMatch(/^exec scripts\/supervise .*node .*scripts\/start\.mjs$/)
})
