import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { containerExecutor } from '../../src/runner/containers/container-executor.ts'
import { imageOf } from '../../src/runner/containers/services.ts'
import type { JobPlace } from '../../src/runner/executor.ts'
import { openWorkspace } from '../../src/runner/folder/workspace.ts'
import type { JobImage, JobService } from '../../src/runner/job.ts'
import { JobProcesses } from '../../src/runner/processes/job-processes.ts'
import { jobOf } from './fake-server.ts'

let folder: string
let program: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arguments-'))
  program = join(folder, 'podman')
  // It writes down what it is asked, and answers that all is well.
  await writeFile(program, `#!/bin/sh\necho "$@" >> ${folder}/asked\n`)
  await chmod(program, 0o755)
  await mkdir(join(folder, 'work'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What a program of containers is asked to start for a job. */
async function asked(image: JobImage, services: readonly JobService[]): Promise<string[]> {
  await rm(join(folder, 'asked'), { force: true })
  const job = jobOf(['true'], { image, services })
  const quiet = { output: () => undefined, drained: async () => undefined }
  const never = new AbortController().signal
  const opening: Promise<JobPlace> = containerExecutor(program, undefined).open({
    job,
    workspace: await openWorkspace(join(folder, 'work'), 0, job),
    env: {},
    limits: { memory: 64_000_000, processes: 50 },
    processes: new JobProcesses('x', undefined),
    signal: never,
    say: () => undefined,
    expand: (text) => text,
    ...quiet,
  })
  const place = await opening
  await place.run({ script: 'true', env: {}, signal: never, ...quiet })
  const text = await readFile(join(folder, 'asked'), 'utf8')
  return text.split('\n').filter((line) => line.startsWith('run '))
}

test('services are kept to the limits of their job, as its own container is', async () => {
  const runs = await asked({ name: 'debian:12' }, [{ name: 'postgres:15' }])
  expect(runs).toHaveLength(2)
  for (const line of runs) expect(line).toContain('--memory 64000000 --pids-limit 50')
})

test('no name of an image becomes an option of the program, whatever is pulled', async () => {
  const pull_policy = ['never']
  const evil = { name: '--volume=/:/host', pull_policy }
  await expect(asked(evil, [])).rejects.toMatchObject({ reason: 'image_pull_failure' })
  const service = { ...evil, command: ['debian:12', 'cat', '/host/etc/passwd'] }
  await expect(asked({ name: 'debian:12' }, [service])).rejects.toMatchObject({
    reason: 'image_pull_failure',
  })
  const text = await readFile(join(folder, 'asked'), 'utf8')
  expect(text).not.toContain('/host')
})

describe('the name of an image', () => {
  const usual = [
    'debian:12',
    'host.example:5000/a/b@sha256:00',
    '127.0.0.1:5000/a',
    'localhost/a_b',
  ]
  test.each(usual)('may be %s', (name) => expect(imageOf(name)).toBe(name))

  test.each(['--privileged', '-v', '', ' x', 'docker-archive:/srv/a.tar', 'docker://a', '/srv/a'])(
    'may not be %j, which podman would take for something else',
    (name) => expect(() => imageOf(name)).toThrow('is no name of an image'),
  )
})
