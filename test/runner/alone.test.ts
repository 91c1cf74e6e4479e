import { spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { processMark } from '../../src/base/process-mark.ts'
import { assertNotAlone, takeAlone } from '../../src/runner/folder/alone.ts'
import { noteJob } from '../../src/runner/folder/lost-jobs.ts'
import { type FakeRunner, jobOf, openFakeRunner } from './fake-server.ts'

let folder: string
let stop = new AbortController()
const said: string[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'alone-'))
  stop = new AbortController()
  said.length = 0
})
afterEach(() => rm(folder, { recursive: true }))

const take = () => takeAlone(folder, { stop: stop.signal, say: (line) => void said.push(line) })

/** A process that only waits. */
function other() {
  const child = spawn('sleep', ['600'])
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, pid: child.pid ?? 0, mark: processMark(child.pid ?? 0) ?? '' }
}

describe('a runner that wants a folder for itself', () => {
  test.each(['alone', 'slots/0'])(
    'waits until a process that has %s ends, and says so',
    async (name) => {
      const { child, pid, mark } = other()
      await mkdir(join(folder, 'slots'))
      await writeFile(join(folder, name), mark)
      const taken = take()
      await expect.poll(() => said).toEqual([`Process ${pid} uses ${folder}, waits until it ends`])
      child.kill('SIGKILL')
      const release = await taken
      await release()
      await expect(assertNotAlone(folder)).resolves.toBeUndefined()
    },
  )

  test('takes it at once where the last one was killed, also while it wrote', async () => {
    for (const left of ['', '1:1', `${spawnSync('true').pid}:7`]) {
      await writeFile(join(folder, 'alone'), left)
      await (await take())()
    }
    expect(said).toEqual([])
    expect(await readdir(folder)).toEqual([])
  })

  test('ends while it waits when it is stopped, and leaves the lock to whose it is', async () => {
    const { mark, pid } = other()
    await writeFile(join(folder, 'alone'), mark)
    const taken = take()
    stop.abort()
    await (await taken)()
    await expect(assertNotAlone(folder)).rejects.toThrow(
      `the runner beside a server (process ${pid}) uses ${folder}: name another --folder`,
    )
  })
})

describe('a job whose runner was killed', () => {
  let runner: FakeRunner
  afterAll(() => runner.close())

  test('is reported by the next runner, once, to the server that gave it', async () => {
    runner = await openFakeRunner()
    const dead = spawnSync('true').pid
    const note = (name: string, text: string) => writeFile(join(runner.folder, 'jobs', name), text)
    const lost = { url: runner.url, id: 7, token: 'of-job-7' }
    await mkdir(join(runner.folder, 'jobs'), { recursive: true })
    await note(`${dead}-1-0123456789ab`, JSON.stringify(lost))
    await note(`${dead}-1-0123456789ac`, JSON.stringify({ ...lost, url: 'http://elsewhere' }))
    await note(`${dead}-1-0123456789ad`, '{"url":')
    const forget = await noteJob(runner.folder, runner.url, jobOf(['true']))
    await runner.run([jobOf(['true'])])
    const own = runner.server.ends.filter(({ token }) => token === 'of-job-7')
    expect(own).toEqual([
      { token: 'of-job-7', state: 'failed', failure_reason: 'runner_interrupted' },
    ])
    await forget()
    // That of the other server, which nobody has asked.
    expect(await readdir(join(runner.folder, 'jobs'))).toEqual([`${dead}-1-0123456789ac`])
  })
})
