import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ControlGroup, openControlGroups } from '../../src/runner/processes/control-groups.ts'
import { JobProcesses } from '../../src/runner/processes/job-processes.ts'
import { type Ended, runProcess } from '../../src/runner/processes/run-process.ts'

let folder: string
/** Seconds that nobody else sleeps. */
let mark: string
let last = 0
let groups: Awaited<ReturnType<typeof openControlGroups>>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'processes-'))
  groups = await openControlGroups()
})
beforeEach(() => {
  last += 1
  mark = `${700_000 + last}.${process.pid}`
})
afterEach(() => {
  for (const pid of sleepers()) process.kill(pid, 'SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function sleepers(): number[] {
  try {
    const found = execFileSync('pgrep', ['-x', '-f', `sleep ${mark}`], { encoding: 'utf8' })
    return found.split('\n').filter(Boolean).map(Number)
  } catch {
    return [] // none
  }
}

interface Ran extends Ended {
  readonly text: string
}

async function run(
  script: string,
  {
    group,
    signal = new AbortController().signal,
    env = {},
    isOfJob = true,
  }: {
    readonly group?: ControlGroup | undefined
    readonly signal?: AbortSignal
    readonly env?: Readonly<Record<string, string>>
    readonly isOfJob?: boolean
  } = {},
): Promise<Ran> {
  const pieces: Buffer[] = []
  const processes = isOfJob ? new JobProcesses(`test-${mark}`, group) : undefined
  const ended = await runProcess({
    program: '/bin/bash',
    args: ['-c', script],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    processes,
    limits: { memory: 0, processes: 0 },
    signal,
    output: (piece) => pieces.push(piece),
    drained: async () => undefined,
  })
  await processes?.close()
  return { ...ended, text: Buffer.concat(pieces).toString() }
}

const hidden: [string, (seconds: string) => string][] = [
  ['in the background', (seconds) => `sleep ${seconds} &`],
  ['without its environment and session', (seconds) => `env -i setsid sleep ${seconds} &`],
  [
    'without its output, a daemon of a daemon',
    (seconds) => `(env -i setsid setsid sleep ${seconds} >/dev/null 2>&1 &);`,
  ],
]

describe.each(hidden)('a process of a job %s', (_, start) => {
  test('ends with the script, whose status counts', async () => {
    expect(await run(`${start(mark)} sleep 0.3; exit 3`)).toMatchObject({ code: 3 })
    expect(sleepers()).toEqual([])
  })

  test('ends when the job is stopped', async () => {
    const stop = new AbortController()
    const ended = run(`${start(mark)} sleep 60`, { signal: stop.signal })
    await expect.poll(sleepers).toHaveLength(1)
    stop.abort()
    expect(await ended).toMatchObject({ code: 137 })
    expect(sleepers()).toEqual([])
  })
})

describe('the process that watches over a job', () => {
  test('keeps the environment of the job from itself, and gives it on', async () => {
    const env = { PERL5OPT: '-Mnowhere', LC_ALL: 'xx_XX', LINES: 'a\nb=c', EMPTY: '' }
    const { text } = await run('printf "%s|" "$PERL5OPT" "$LC_ALL" "$LINES" "$EMPTY"', {
      env,
    })
    expect(text.replace(/^.*warning.*\n/, '')).toBe('-Mnowhere|xx_XX|a\nb=c||')
  })

  test('is not in the group that a script signals', async () => {
    expect(await run('trap "exit 5" TERM; kill 0; sleep 1')).toMatchObject({ code: 5 })
  })

  test('may be killed by the job: what stays in its session or environment ends all the same', async () => {
    const background = `sleep ${mark} & setsid sleep ${mark} &`
    expect(await run(`${background} kill -9 $PPID; sleep 60`)).toMatchObject({ code: 137 })
    expect(sleepers()).toEqual([])
  })

  test('may be stopped by the job, which ends all the same when its time is over', async () => {
    const stop = new AbortController()
    const script = `env -i setsid sleep ${mark} & kill -STOP $PPID; sleep 60`
    const ended = run(script, { signal: stop.signal })
    await expect.poll(sleepers).toHaveLength(1)
    stop.abort()
    expect(await ended).toMatchObject({ code: 137 })
    expect(sleepers()).toEqual([])
  })

  test('ends the job when the runner is killed', async () => {
    const contain = join(import.meta.dirname, '../../scripts/contain')
    const script = `${contain} --parent $$ -- bash -c 'env -i setsid sleep ${mark} & sleep 60' & wait`
    const runner = spawn('/bin/sh', ['-c', script], { stdio: 'ignore' })
    await expect.poll(sleepers).toHaveLength(1)
    runner.kill('SIGKILL')
    await expect.poll(sleepers).toEqual([])
  })

  test('does not start anything for a runner that is gone', () => {
    const contain = join(import.meta.dirname, '../../scripts/contain')
    const run = () => execFileSync(contain, ['--parent', '1', '--', 'true'])
    expect(run).toThrow(expect.objectContaining({ status: 137 }))
  })
})

test('a control group holds a job that has killed what watches over it, and hides', async ({
  skip,
}) => {
  const group = groups?.make()
  if (!group) return skip('no control groups here')
  const script = `(env -i setsid sleep ${mark} >/dev/null 2>&1 &); sleep 0.3; kill -9 $PPID; sleep 60`
  expect(await run(script, { group })).toMatchObject({ code: 137 })
  expect(sleepers()).toEqual([])
  expect(group.list()).toEqual([])
})

test('what holds the output of a program that has ended is not waited for', async () => {
  const { code, text } = await run(`echo begun; setsid sleep ${mark} & sleep 0.3; exit 4`, {
    isOfJob: false,
  })
  expect({ code, text }).toEqual({ code: 4, text: 'begun\n' })
  expect(sleepers()).toHaveLength(1)
})
