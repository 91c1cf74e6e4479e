import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import archiver from 'archiver'
import { describe, expect, test, vi } from 'vitest'
import { later } from '../../../src/base/clock.ts'
import { removeExpired } from '../../../src/ci/artifacts/expire.ts'
import { parseJunit } from '../../../src/ci/job-ends/junit.ts'
import { CI_VARIABLE_PURPOSE, collectVariables } from '../../../src/ci/variables/collect.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let count = 0

async function projectWith(config: string): Promise<TestProject> {
  count += 1
  const project = await addProject(world, ana, 'basic', { path: `j${count}` })
  await addMember(world, project, dev, 30)
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  return project
}

async function started(config: string, project?: TestProject) {
  const at = project ?? (await projectWith(config))
  const runner = await addRunner(world, ana, at.id)
  const made = await dev.post(`/projects/${at.id}/pipeline`, { ref: 'main' })
  const given = await runner.request()
  if (!given) throw new Error(`no job: ${JSON.stringify(made.body)}`)
  return { project: at, runner, given, api: `/projects/${at.id}/jobs/${given.id}` }
}

async function zipOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = archiver('zip')
  const chunks: Buffer[] = []
  zip.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const [name, content] of Object.entries(files)) zip.append(content, { name })
  const ended = once(zip, 'end')
  await zip.finalize()
  await ended
  return Buffer.concat(chunks)
}

/** The longest time, in milliseconds, in which nothing else could be done. */
async function longestWaitDuring(act: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await setTimeout(5)
  await act()
  await setTimeout(5)
  delay.disable()
  return delay.max / 1e6
}

test('a job names who started it, with what their public profile says', async () => {
  await world.root.put(`/users/${dev.id}`, { bio: 'Builds', organization: 'Mill' })
  const { api } = await started('x: {script: y}')
  expect((await dev.get(api)).body.user).toEqual({
    id: dev.id,
    username: 'dev',
    name: 'dev',
    state: 'active',
    locked: false,
    public_email: '',
    avatar_url: null,
    web_url: expect.stringMatching(/\/dev$/),
    created_at: expect.any(String),
    bio: 'Builds',
    location: '',
    skype: '',
    linkedin: '',
    twitter: '',
    website_url: '',
    organization: 'Mill',
  })
  await world.root.put(`/users/${dev.id}`, { private_profile: true })
  expect((await dev.get(api)).body.user).toMatchObject({
    username: 'dev',
    bio: '',
    organization: '',
  })
})

interface SentEvent {
  readonly id: number
  readonly event: string
  readonly data: { readonly text?: string; readonly status?: string }
}

/** The server-sent events of a job's log as they come. */
async function* eventsOf(api: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${world.url}/api/v4${api}/trace/events`, {
    headers: { 'PRIVATE-TOKEN': dev.token ?? '', ...headers },
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  let held = ''
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (held + text).split('\n\n')
    held = parts.pop() ?? ''
    for (const part of parts) {
      const [, id, event, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(part) ?? []
      yield { id: Number(id), event, data: JSON.parse(data ?? '') } as SentEvent // as written above
    }
  }
}

describe('the log of a job', () => {
  test('is followed as it grows, and the events end with the job', async () => {
    const { runner, given, api } = await started('x: {script: y}')
    await runner.append(given, 0, 'one\r\n')
    const events = eventsOf(api)
    expect((await events.next()).value).toEqual({
      id: 5,
      event: 'log',
      data: { offset: 0, text: 'one\r\n' },
    })
    // The first byte of a letter of two waits for the other.
    const letter = Buffer.from('ä\n')
    const send = (start: number, bytes: Uint8Array<ArrayBuffer>) =>
      runner.call('PATCH', `/jobs/${given.id}/trace`, bytes, {
        'Content-Range': `${start}-${start + bytes.length - 1}`,
        'JOB-TOKEN': given.token,
      })
    await send(5, Uint8Array.from([0x62, letter[0] ?? 0]))
    expect((await events.next()).value).toMatchObject({ id: 6, data: { text: 'b' } })
    await send(7, Uint8Array.from(letter.subarray(1)))
    expect((await events.next()).value).toMatchObject({ id: 9, data: { text: 'ä\n' } })
    await runner.update(given, 'success')
    await world.runTasks()
    expect((await events.next()).value).toEqual({
      id: 9,
      event: 'end',
      data: { status: 'success' },
    })
    expect((await events.next()).done).toBe(true)
    const again = []
    for await (const event of eventsOf(api, { 'Last-Event-ID': '5' })) again.push(event)
    expect(again.map(({ event, data }) => [event, data.text])).toEqual([
      ['log', 'bä\n'],
      ['end', undefined],
    ])
  })

  test('is followed twenty times by one caller, and others follow meanwhile', async () => {
    const { api } = await started('x: {script: y}')
    const follow = (token: string | null, signal: AbortSignal) =>
      fetch(`${world.url}/api/v4${api}/trace/events`, {
        headers: { 'PRIVATE-TOKEN': token ?? '' },
        signal,
      })
    const end = new AbortController()
    const first = new AbortController()
    const signals = [first.signal, ...Array<AbortSignal>(19).fill(end.signal)]
    for (const signal of signals) expect((await follow(dev.token, signal)).status).toBe(200)
    const refused = await follow(dev.token, end.signal)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await refused.json()).toEqual({
      message: { error: 'No more than 20 logs can be followed at a time. Try again later.' },
    })
    const other = await follow(world.root.token, end.signal)
    expect(other.status).toBe(200)
    first.abort()
    await vi.waitFor(async () => {
      expect((await follow(dev.token, end.signal)).status).toBe(200)
    }, 10_000)
    end.abort()
  })

  test('is followed by those alone who may read it', async () => {
    const { api } = await started('x: {script: y}')
    const eve = await world.user('eve')
    for (const who of [eve, world.nobody]) {
      const { status } = await who.get(`${api}/trace`)
      expect((await who.get(`${api}/trace/events`)).status).toBe(status)
    }
    expect((await dev.get(`${api}/trace/events?offset=-1`)).status).toBe(400)
  })

  test('is read while it grows and after the end, in parts too', async () => {
    const { runner, given, api } = await started('x: {script: y}')
    expect((await dev.get(`${api}/trace`)).body).toBe('')
    await runner.append(given, 0, 'one\n')
    expect((await dev.get(`${api}/trace`)).body).toBe('one\n')
    const watched = await runner.append(given, 4, 'two\n')
    expect(watched.headers.get('x-svc-trace-update-interval')).toBe('3')
    await runner.update(given, 'success')
    await world.runTasks()
    expect((await dev.get(`${api}/trace`)).body).toBe('one\ntwo\n')
    const part = await dev.get(`${api}/trace`, { headers: { Range: 'bytes=4-' } })
    expect(part).toMatchObject({ status: 206, body: 'two\n' })
    const { sha256 } = await world.ctx.db
      .selectFrom('ci_traces')
      .select('sha256')
      .where('job_id', '=', given.id)
      .executeTakeFirstOrThrow()
    expect(sha256).not.toBeNull()
    expect((await world.nobody.get(`${api}/trace`)).status).toBe(401)
  })

  test('never shows a masked value, also when it is cut across two chunks', async () => {
    const project = await projectWith('x: {script: y}')
    const now = world.ctx.now()
    await world.ctx.db
      .insertInto('ci_variables')
      .values({
        project_id: project.id,
        key: 'PASSWORD',
        sealed_value: world.ctx.vault.seal('hunter2hunter', CI_VARIABLE_PURPOSE),
        masked: true,
        created_at: now,
        updated_at: now,
      })
      .execute()
    const at = { id: project.id, namespace_id: 0 }
    expect(await collectVariables(world.ctx, at, { protected: false })).toMatchObject([
      { key: 'PASSWORD', value: 'hunter2hunter', masked: true },
    ])
    const { runner, given, api } = await started('', project)
    const shown = async () => (await dev.get(`${api}/trace`)).body as string
    await runner.append(given, 0, 'a hunter2hunter b hunt')
    expect(await shown()).toBe(`a ${'*'.repeat(13)} b `)
    await runner.append(given, 22, 'er2hunter c\n')
    expect(await shown()).toBe(`a ${'*'.repeat(13)} b ${'*'.repeat(13)} c\n`)
    await runner.append(given, 34, `${given.token}\n`)
    expect(await shown()).not.toContain(given.token)
  })

  test('never shows the rest of a masked value that begins with another one', async () => {
    const project = await projectWith('x: {script: y}')
    for (const [key, value] of [
      ['SHORT', 'hunter2hunter'],
      ['LONG', 'hunter2hunter-and-more'],
    ]) {
      const made = await ana.post(`/projects/${project.id}/variables`, { key, value, masked: true })
      expect(made.status).toBe(201)
    }
    const { runner, given, api } = await started('', project)
    await runner.append(given, 0, 'a hunter2hunter-and-more b hunter2hunter c\n')
    const shown = (await dev.get(`${api}/trace`)).body
    expect(shown).toBe(`a ${'*'.repeat(22)} b ${'*'.repeat(13)} c\n`)
  })

  test('never shows the rest of such a value that comes with the next chunk', async () => {
    const project = await projectWith('x: {script: y}')
    for (const [key, value] of [
      ['SHORT', 'hunter2hunter'],
      ['OTHER', 'more-of-this'],
      ['LONG', 'hunter2hunter-and-more'],
    ]) {
      const made = await ana.post(`/projects/${project.id}/variables`, { key, value, masked: true })
      expect(made.status).toBe(201)
    }
    const { runner, given, api } = await started('', project)
    const shown = async () => (await dev.get(`${api}/trace`)).body as string
    let sent = 0
    const send = async (text: string) => {
      await runner.append(given, sent, text)
      sent += text.length
    }
    await send('a hunter2hunter')
    expect(await shown()).toBe('a ')
    await send('-and-')
    expect(await shown()).toBe('a ')
    await send('more')
    // Its end is masked, and held back as the beginning of another.
    expect(await shown()).toBe(`a ${'*'.repeat(18)}`)
    await send('-of-this b hunter2hunter')
    expect(await shown()).toBe(`a ${'*'.repeat(30)} b `)
    await send(' c\n')
    expect(await shown()).toBe(`a ${'*'.repeat(30)} b ${'*'.repeat(13)} c\n`)
  })

  test('shows the coverage, by the last match of the pattern', async () => {
    const { runner, given, api } = await started('x: {script: y, coverage: "/total: (\\\\d+)%/"}')
    await runner.finish(given, 'success', 'total: 10%\ntotal: 87%\n')
    await world.runTasks()
    expect((await dev.get(api)).body.coverage).toBe(87)
  })

  test('has no pattern for its coverage that takes for ever', async () => {
    const { project } = await started('x: {script: y}')
    const content = `x: {script: y, coverage: "/${'(.?){1000}'.repeat(30)}c/"}`
    const checked = await dev.post(`/projects/${project.id}/ci/lint`, { content })
    expect([checked.status, checked.body.valid]).toEqual([200, false])
    expect(checked.body.errors.join()).toContain('coverage')
  })

  test('is deleted with the artifacts when the job is erased', async () => {
    const { runner, given, api } = await started('x: {script: y}')
    await runner.upload(given, await zipOf({ 'a.txt': 'a' }))
    await runner.finish(given, 'success', 'secret\n')
    await world.runTasks()
    const erased = await dev.post(`${api}/erase`)
    expect(erased).toMatchObject({ status: 201, body: { artifacts: [] } })
    expect(erased.body.erased_at).not.toBeNull()
    expect((await dev.get(`${api}/trace`)).body).toBe('')
    expect((await dev.get(`${api}/artifacts`)).status).toBe(404)
    expect((await dev.post(`${api}/erase`)).status).toBe(403)
  })
})

describe('artifacts', () => {
  test('are shown by the job, downloaded whole, as one file, and by ref', async () => {
    const { project, runner, given, api } = await started('x: {script: y}')
    const zip = await zipOf({ 'out/a.txt': 'hello', 'b.txt': 'b' })
    const allowed = await runner.mayUpload(given, zip.length)
    expect([allowed.status, allowed.body]).toEqual([200, { MaximumSize: expect.any(Number) }])
    const tooMuch = allowed.body.MaximumSize + 1
    expect((await runner.mayUpload(given, tooMuch)).status).toBe(413)
    await runner.upload(given, zip, { artifact_type: 'archive', expire_in: '1 week' })
    await runner.finish(given, 'success')
    await world.runTasks()
    const job = (await dev.get(api)).body
    expect(job).toMatchObject({
      artifacts_file: { filename: 'artifacts.zip', size: zip.length },
      artifacts: [
        { file_type: 'archive', file_format: 'zip' },
        { file_type: 'trace', file_format: 'raw', filename: 'job.log' },
      ],
      artifacts_expire_at: '2026-05-11T10:00:00.000Z',
      runner: { runner_type: 'project_type', online: true },
    })
    expect((await dev.get(`${api}/artifacts/out/a.txt`)).body).toBe('hello')
    expect((await dev.get(`${api}/artifacts/out/none.txt`)).status).toBe(404)
    for (const path of ['out', '..%2Fa']) {
      expect((await dev.get(`${api}/artifacts/${path}`)).status).toBe(400)
    }
    const tree = await dev.get(`${api}/artifacts/tree`)
    expect(tree.body).toContainEqual({
      name: 'out',
      path: 'out',
      type: 'directory',
      size: null,
      mode: null,
    })
    const inside = await dev.get(`${api}/artifacts/tree?path=out`)
    expect(inside.body).toMatchObject([{ name: 'a.txt', path: 'out/a.txt', type: 'file', size: 5 }])
    expect((await dev.get(`${api}/artifacts/tree?path=..`)).status).toBe(400)
    const latest = `/projects/${project.id}/jobs/artifacts/main`
    expect((await dev.get(`${latest}/raw/b.txt?job=x`)).body).toBe('b')
    expect((await dev.get(`${latest}/download?job=x`)).status).toBe(200)
    expect((await dev.get(`${latest}/download?job=none`)).status).toBe(404)
    expect((await dev.post(`${api}/artifacts/keep`)).body.artifacts_expire_at).toBeNull()
    expect((await dev.delete(`${api}/artifacts`)).status).toBe(403)
    expect((await ana.delete(`${api}/artifacts`)).status).toBe(204)
  })

  test('that are the newest of their branch stay while the instance and the project want it', async () => {
    const left = async () => {
      const { project, runner, given, api } = await started('x: {script: y}')
      const zip = await zipOf({ 'a.txt': 'a' })
      await runner.upload(given, zip, { artifact_type: 'archive', expire_in: '1 hour' })
      await runner.finish(given, 'success')
      await world.runTasks()
      const remove = () =>
        removeExpired({ ...world.ctx, now: () => later(world.ctx.now(), 2 * 3_600_000) })
      const status = async () => (await dev.get(`${api}/artifacts`)).status
      return { project, remove, status }
    }
    const kept = await left()
    await kept.remove()
    expect(await kept.status()).toBe(200)
    await ana.put(`/projects/${kept.project.id}`, { keep_latest_artifact: false })
    await kept.remove()
    expect(await kept.status()).toBe(404)
    const other = await left()
    await world.root.put('/application/settings', { keep_latest_artifact: false })
    await other.remove()
    expect(await other.status()).toBe(404)
    await world.root.put('/application/settings', { keep_latest_artifact: true })
  })

  test('of a job that reports its tests are the test report of the pipeline', async () => {
    const { project, runner, given } = await started('x: {script: y}')
    const xml = `<testsuite name="s"><testcase name="a" classname="c" time="0.5"/>
      <testcase name="b"><failure message="no">at line 1</failure></testcase></testsuite>`
    const query = { artifact_type: 'junit', artifact_format: 'raw' }
    await runner.upload(given, Buffer.from(xml), query, 'junit.xml')
    await runner.finish(given, 'success')
    await world.runTasks()
    const at = `/projects/${project.id}/pipelines/${given.job_info.pipeline_id}/test_report`
    expect((await dev.get(at)).body).toMatchObject({
      total_count: 2,
      failed_count: 1,
      test_suites: [{ name: 'x', test_cases: [{ name: 'a' }, { name: 'b', status: 'failed' }] }],
    })
  })

  test.each([['erase', 'post'] as const, ['artifacts', 'delete'] as const])(
    'are not shown as tests any more after %s',
    async (what, method) => {
      const { project, runner, given } = await started('x: {script: y}')
      const xml = '<testsuite><testcase name="a"><failure>a secret</failure></testcase></testsuite>'
      const query = { artifact_type: 'junit', artifact_format: 'raw' }
      await runner.upload(given, Buffer.from(xml), query, 'junit.xml')
      await runner.finish(given, 'success')
      await world.runTasks()
      const at = `/projects/${project.id}/pipelines/${given.job_info.pipeline_id}/test_report`
      expect(JSON.stringify((await ana.get(at)).body)).toContain('a secret')
      await ana[method](`/projects/${project.id}/jobs/${given.id}/${what}`)
      expect((await ana.get(at)).body).toMatchObject({ total_count: 0, test_suites: [] })
    },
  )

  const reportOf = async (xml: string) => {
    const { project, runner, given } = await started('x: {script: y}')
    const query = { artifact_type: 'junit', artifact_format: 'gzip' }
    await runner.upload(given, gzipSync(xml, { level: 1 }), query, 'junit.xml.gz')
    await runner.finish(given, 'success')
    const longestWait = await longestWaitDuring(() => world.runTasks())
    const at = `/projects/${project.id}/pipelines/${given.job_info.pipeline_id}/test_report`
    return { longestWait, suite: (await dev.get(at)).body.test_suites[0] }
  }

  test('of a job that reports many tests do not hold up others while they are read', async () => {
    const xml = `<testsuite>${'<testcase name="a"/>'.repeat(60_000)}</testsuite>`
    const { longestWait, suite } = await reportOf(xml)
    expect(suite.success_count).toBe(20_000)
    expect(longestWait).toBeLessThan(await longestWaitDuring(async () => void parseJunit(xml)))
  })

  test('of a job whose report takes too much memory to read say so', async () => {
    const { suite } = await reportOf('<?xml?>'.repeat(2_900_000))
    expect(suite).toMatchObject({
      total_count: 0,
      suite_error: 'The report takes too much memory to read',
    })
  })

  test('that are no archive are refused when a file of them is asked for', async () => {
    const { runner, given, api } = await started('x: {script: y}')
    await runner.upload(given, Buffer.from('no zip'))
    expect((await dev.get(`${api}/artifacts/a.txt`)).status).toBe(400)
  })
})

describe('whoever has a job token', () => {
  test('learns which job it is, and that there are no agents', async () => {
    const { given } = await started('x: {script: y}')
    const headers = { 'JOB-TOKEN': given.token }
    expect((await world.nobody.get('/job', { headers })).body.id).toBe(given.id)
    const agents = await world.nobody.get(`/job/allowed_agents?job_token=${given.token}`)
    expect(agents.body).toMatchObject({ allowed_agents: [], job: { id: given.id } })
    expect((await dev.get('/job')).status).toBe(404)
    expect((await world.nobody.get('/job')).status).toBe(401)
  })
})

test('what jobs leave counts into the size of their project', async () => {
  const { project, runner, given } = await started('x: {script: y, artifacts: {paths: [a]}}')
  const zip = await zipOf({ a: 'x'.repeat(1000) })
  const query = { artifact_type: 'archive', artifact_format: 'zip' }
  expect((await runner.upload(given, zip, query)).status).toBe(201)
  await runner.finish(given, 'success', 'ten bytes\n')
  await world.runTasks()
  const { body } = await ana.get(`/projects/${project.id}?statistics=true`)
  expect(body.statistics.job_artifacts_size).toBe(zip.length + 10)
  const { storage_size, repository_size } = body.statistics
  expect(storage_size).toBe(repository_size + zip.length + 10)
})
