import { once } from 'node:events'
import archiver from 'archiver'
import { beforeAll, describe, expect, test } from 'vitest'
import { removeExpired } from '../../../src/ci/artifacts/expire.ts'
import {
  addCiPlace,
  type CiPlace,
  startJob,
  startPipeline,
  takeJob,
  zipOf,
} from '../../support/ci.ts'
import type { GivenJob } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
let place: CiPlace

const atFirst = '2026-05-04T10:00:00.000Z'

beforeAll(async () => {
  place = await newPlace(build)
})

const build = `
workflow: {rules: [{if: '$CI_PIPELINE_SOURCE == "api"'}]}
build: {script: make, artifacts: {paths: [out]}}
`

const newPlace = (config: string) =>
  addCiPlace(world, ana, config, {
    members: [
      [dev, 30],
      [rep, 20],
    ],
  })

async function finish({ runner }: CiPlace, job: GivenJob, files?: Record<string, string>) {
  if (files) await runner.upload(job, await zipOf(files))
  await runner.finish(job, 'success')
}

/** A pipeline of a ref whose job leaves a text in `out.txt`. */
async function built(to: CiPlace, text: string, ref = 'main', state = 'success') {
  const { job, at, pipeline } = await startJob(to, { ref })
  await to.runner.upload(job, await zipOf({ 'out.txt': text }))
  await to.runner.update(job, state)
  return { at, job, pipeline }
}

describe('one file of an archive', () => {
  let plain: string

  beforeAll(async () => {
    const { job, at } = await startJob(place)
    await finish(place, job, { 'plain.txt': 'plain' })
    plain = at
  })

  test('is found by its path, whatever letters are in it', async () => {
    const files = {
      'plain.txt': 'plain',
      'deep/er/file.json': '{"a":"b"}',
      'with space & more.txt': 'spaced',
      'ünïcode/日本.txt': 'letters',
      '100%.txt': 'percent',
      'empty.txt': '',
      '.hidden': 'hidden',
      'page.html': '<script>alert(1)</script>',
      keep: 'no known value',
    }
    const { job, at } = await startJob(place)
    await finish(place, job, files)
    for (const [name, content] of Object.entries(files)) {
      const encoded = name.split('/').map(encodeURIComponent).join('/')
      const url = `${world.url}/api/v4${at}/artifacts/${encoded}`
      const response = await fetch(url, { headers: { 'PRIVATE-TOKEN': rep.token ?? '' } })
      expect([name, response.status, await response.text()]).toEqual([name, 200, content])
      expect(response.headers.get('content-type')).toBe('application/octet-stream')
      expect(response.headers.get('content-disposition')).toMatch(/^attachment;/)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    }
    const byRef = await rep.get(`${place.path}/jobs/artifacts/main/raw/page.html?job=build`)
    expect(byRef.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(byRef.body).toBe(files['page.html'])
  })

  test.each([
    ['none.txt', 404],
    ['PLAIN.TXT', 404],
    ['%2Fplain.txt', 400],
    ['..%2Fplain.txt', 400],
    ['a%2F..%2Fplain.txt', 400],
    ['.%2Fplain.txt', 400],
    ['a%5Cb', 400],
    ['a%2F%2Fb', 400],
    ['plain.txt%00', 404],
  ])('is not found as %s: %i', async (path, status) => {
    const url = `${world.url}/api/v4${plain}/artifacts/${path}`
    const { status: found } = await fetch(url, { headers: { 'PRIVATE-TOKEN': dev.token ?? '' } })
    expect(found).toBe(status)
  })

  test.each(['deep', 'deep/er'])('is no folder: %s', async (folder) => {
    const { job, at } = await startJob(place)
    await finish(place, job, { 'deep/er/file.txt': 'a', 'deeper.txt': 'b' })
    const path = encodeURIComponent(folder)
    const byJob = await rep.get(`${at}/artifacts/${path}`)
    const byRef = await rep.get(`${place.path}/jobs/artifacts/main/raw/${path}?job=build`)
    expect([byJob.status, byRef.status]).toEqual([400, 400])
    expect((await rep.get(`${at}/artifacts/dee`)).status).toBe(404)
  })

  test('is listed with others of its folder, in pages, or with all below', async () => {
    const { job, at } = await startJob(place)
    const zip = archiver('zip')
    const chunks: Buffer[] = []
    zip.on('data', (chunk: Buffer) => chunks.push(chunk))
    zip.append('run', { name: 'bin/run', mode: 0o755 })
    zip.append('b', { name: 'bin/lib/b' })
    zip.append('top', { name: 'top.txt', mode: 0o644 })
    zip.append('', { name: 'empty/' })
    const ended = once(zip, 'end')
    await zip.finalize()
    await ended
    await place.runner.upload(job, Buffer.concat(chunks))
    await place.runner.update(job, 'success')
    const tree = async (query = '') => {
      const reply = await rep.get(`${at}/artifacts/tree${query}`)
      const entries = reply.body as { path: string; type: string; size: number | null }[]
      return [
        reply.headers.get('x-total'),
        ...entries.map(({ path, type, size }) => `${type} ${path} ${size}`),
      ]
    }
    expect(await tree()).toEqual([
      '3',
      'directory bin null',
      'directory empty null',
      'file top.txt 3',
    ])
    expect(await tree('?path=bin')).toEqual(['2', 'directory bin/lib null', 'file bin/run 3'])
    expect(await tree('?path=bin/lib/')).toEqual(['1', 'file bin/lib/b 1'])
    expect(await tree('?recursive=true&per_page=2&page=2')).toEqual([
      '6',
      'file bin/lib/b 1',
      'file bin/run 3',
    ])
    expect(await tree('?path=nowhere')).toEqual(['0'])
    const [run] = (await rep.get(`${at}/artifacts/tree?path=bin&page=2&per_page=1`)).body
    expect(run).toMatchObject({ name: 'run', mode: '100755' })
  })

  test('is not listed with all below where a path names more folders than fit into memory', async () => {
    const { job, at } = await startJob(place)
    await place.runner.upload(job, await zipOf({ [`${'a/'.repeat(30_000)}a`]: 'a', b: 'b' }))
    await place.runner.update(job, 'success')
    const all = await rep.get(`${at}/artifacts/tree?recursive=true`)
    expect([all.status, all.body.message]).toEqual([
      400,
      '400 Bad request - the archive has too many entries',
    ])
    const top = await rep.get(`${at}/artifacts/tree`)
    expect(top.body.map((one: { path: string }) => one.path)).toEqual(['a', 'b'])
  })
})

describe('artifacts by the name of a ref', () => {
  const latest = async (to: CiPlace, ref: string, query = '?job=build', by = rep) => {
    const { status, body } = await by.get(`${to.path}/jobs/artifacts/${ref}/raw/out.txt${query}`)
    return status === 200 ? body : status
  }

  test('are those of the branch or tag of that name, with slashes too', async () => {
    const to = await newPlace(build)
    to.project.git('branch', 'topic/a', 'main')
    to.project.git('tag', 'rel', 'main')
    await built(to, 'of main')
    await built(to, 'of topic', 'topic/a')
    await built(to, 'of tag', 'rel')
    expect(await latest(to, 'main')).toBe('of main')
    // Some clients send the slashes of a ref as they are.
    for (const ref of ['topic%2Fa', 'topic/a']) {
      expect(await latest(to, ref)).toBe('of topic')
      const whole = await rep.get(`${to.path}/jobs/artifacts/${ref}/download?job=build`)
      expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'application/zip'])
    }
    expect(await latest(to, 'rel')).toBe('of tag')
    const sha = to.project.git('rev-parse', 'main')
    for (const ref of [
      sha,
      sha.slice(0, 8),
      'HEAD',
      'refs%2Fheads%2Fmain',
      'topic',
      'none',
      'main/a',
    ]) {
      expect([ref, await latest(to, ref)]).toEqual([ref, 404])
    }
    expect(await latest(to, 'main', '')).toBe(400)
    expect(await latest(to, 'main', '?job=none')).toBe(404)
    expect(await latest(to, 'main', '?job=BUILD')).toBe(404)
  })

  test('are of the newest pipeline that went well as a whole', async () => {
    const to = await newPlace(`${build}
after: {stage: deploy, script: make}
`)
    const first = await built(to, 'first')
    // The pipeline still runs.
    expect(await latest(to, 'main')).toBe(404)
    await to.runner.update(await takeJob(to), 'success')
    expect(await latest(to, 'main')).toBe('first')
    await built(to, 'second')
    await to.runner.update(await takeJob(to), 'failed')
    expect(await latest(to, 'main')).toBe('first')
    await built(to, 'third')
    const canceled = await takeJob(to)
    await ana.post(`${to.path}/jobs/${canceled.id}/cancel`)
    await to.runner.update(canceled, 'failed')
    expect(await latest(to, 'main')).toBe('first')
    // A job that is run again changes what its pipeline is.
    await ana.post(`${to.path}/pipelines/${first.pipeline}/jobs`)
    const { body } = await ana.get(`${to.path}/pipelines/${first.pipeline}/jobs?scope=success`)
    const after = body.find((one: { name: string }) => one.name === 'after')
    await ana.post(`${to.path}/jobs/${after.id}/retry`)
    expect(await latest(to, 'main')).toBe(404)
    await to.runner.update(await takeJob(to), 'success')
    expect(await latest(to, 'main')).toBe('first')
  })

  test('are there while manual jobs wait that may fail, and not while one blocks', async () => {
    const manual = (allow_failure: boolean) =>
      newPlace(`${build}
later: {stage: deploy, script: make, when: manual, allow_failure: ${allow_failure}}
`)
    const open = await manual(true)
    await built(open, 'open')
    expect(await latest(open, 'main')).toBe('open')
    const blocked = await manual(false)
    const { pipeline } = await built(blocked, 'blocked')
    expect(await latest(blocked, 'main')).toBe(404)
    const { body } = await ana.get(`${blocked.path}/pipelines/${pipeline}/jobs?scope=manual`)
    await ana.post(`${blocked.path}/jobs/${body[0].id}/play`)
    await blocked.runner.update(await takeJob(blocked), 'success')
    expect(await latest(blocked, 'main')).toBe('blocked')
  })

  test('are found in folders that are called like parts of the path', async () => {
    const to = await newPlace(build)
    const { job } = await startJob(to)
    await finish(to, job, { 'raw/download': 'odd', 'raw/raw/download': 'odder' })
    const file = async (path: string) =>
      (await rep.get(`${to.path}/jobs/artifacts/main/raw/${path}?job=build`)).body
    expect([await file('raw/download'), await file('raw/raw/download')]).toEqual(['odd', 'odder'])
  })

  test('are of a job whose name has spaces and slashes', async () => {
    const to = await newPlace(build.replace('build:', '"build it/fast 1":'))
    await built(to, 'odd')
    expect(await latest(to, 'main', `?job=${encodeURIComponent('build it/fast 1')}`)).toBe('odd')
  })
})

describe('who downloads artifacts', () => {
  const levels = async (access: string) => {
    const to = await newPlace(build.replace('paths: [out]', `paths: [out], access: ${access}`))
    const { at } = await built(to, access)
    const callers = [ana, dev, rep, await world.user(`eve-${access}`), world.nobody]
    const ask = async () => {
      const found = []
      for (const by of callers) {
        const replies = [
          await by.get(`${at}/artifacts`),
          await by.get(`${at}/artifacts/out.txt`),
          await by.get(`${at}/artifacts/tree`),
          await by.get(`${to.path}/jobs/artifacts/main/raw/out.txt?job=build`),
        ]
        const statuses = new Set(replies.map(({ status }) => status))
        expect(statuses.size, JSON.stringify([...statuses])).toBe(1)
        found.push(...statuses)
      }
      return found
    }
    const hidden = await ask()
    await ana.put(to.path, { visibility: 'public' })
    return [hidden, await ask()]
  }

  test.each([
    ['all', [200, 200, 200, 404, 404], [200, 200, 200, 200, 200]],
    ['developer', [200, 200, 403, 404, 404], [200, 200, 403, 403, 401]],
    ['maintainer', [200, 403, 403, 404, 404], [200, 403, 403, 403, 401]],
    ['none', [403, 403, 403, 404, 404], [403, 403, 403, 403, 401]],
  ])('is who %s lets: %j in a private, %j in a public project', async (access, hidden, open) => {
    expect(await levels(access)).toEqual([hidden, open])
  })
})

describe('artifacts are kept and deleted', () => {
  test('by Developers and Maintainers, each as far as they may', async () => {
    const to = await newPlace(build)
    const { at } = await built(to, 'x')
    const guarded = { name: 'main', push_access_level: 40, merge_access_level: 40 }
    expect((await rep.post(`${at}/artifacts/keep`)).status).toBe(403)
    expect((await dev.delete(`${at}/artifacts`)).status).toBe(403)
    expect((await dev.delete(`${to.path}/artifacts`)).status).toBe(403)
    await ana.post(`${to.path}/protected_branches`, guarded)
    expect((await dev.post(`${at}/artifacts/keep`)).status).toBe(403)
    await ana.delete(`${to.path}/protected_branches/main`)
    expect((await dev.post(`${at}/artifacts/keep`)).status).toBe(200)
    expect((await ana.delete(`${at}/artifacts`)).status).toBe(204)
    expect((await ana.post(`${at}/artifacts/keep`)).status).toBe(404)
    expect((await ana.get(at)).body).toMatchObject({ artifacts: [] })
    expect((await ana.get(`${at}/trace`)).status).toBe(200)
    // To delete what is not there is no fault.
    expect((await ana.delete(`${at}/artifacts`)).status).toBe(204)
  })

  test('all of a project together, but the newest success of each ref, and no logs', async () => {
    const to = await newPlace(build)
    to.project.git('branch', 'side', 'main')
    const old = await built(to, 'old')
    const failed = await built(to, 'failed', 'main', 'failed')
    const newest = await built(to, 'newest')
    const side = await built(to, 'side', 'side')
    const reply = await ana.delete(`${to.path}/artifacts`)
    expect([reply.status, reply.body]).toEqual([202, { message: '202 Accepted' }])
    await removeExpired(world.ctx)
    const there = async () => {
      const found = []
      for (const { at } of [old, failed, newest, side])
        found.push((await rep.get(`${at}/artifacts`)).status)
      return found
    }
    expect(await there()).toEqual([404, 404, 200, 200])
    expect((await rep.get(`${old.at}/trace`)).status).toBe(200)
  })

  test('by the clock, unless they were kept or are the newest success', async () => {
    const to = await newPlace(build)
    const made = async (text: string, state = 'success') => {
      const { job, at } = await startJob(to)
      await to.runner.upload(job, await zipOf({ 'out.txt': text }), { expire_in: '1 hour' })
      await to.runner.update(job, state)
      return at
    }
    const expiring = await made('expiring')
    const kept = await made('kept', 'failed')
    const newest = await made('newest')
    expect((await dev.post(`${kept}/artifacts/keep`)).body.artifacts_expire_at).toBeNull()
    world.setNow('2026-05-04T10:59:59.000Z')
    await removeExpired(world.ctx)
    expect((await rep.get(`${expiring}/artifacts`)).status).toBe(200)
    world.setNow('2026-05-04T11:00:01.000Z')
    await removeExpired(world.ctx)
    const statuses = []
    for (const at of [expiring, kept, newest]) {
      statuses.push((await rep.get(`${at}/artifacts`)).status)
    }
    expect(statuses).toEqual([404, 200, 200])
    // The job still shows until when it had them.
    expect((await rep.get(expiring)).body).toMatchObject({
      artifacts_expire_at: '2026-05-04T11:00:00.000Z',
      artifacts: [],
    })
    const { pipeline } = await startJob(to)
    expect(pipeline).toBeGreaterThan(0)
    world.setNow(atFirst)
  })

  test('by the clock, however many that stay ended before', async () => {
    const to = await newPlace(build)
    const expiring = await built(to, 'expiring', 'main', 'failed')
    const newest = await built(to, 'newest')
    const { db, now } = world.ctx
    const rows = await db.selectFrom('ci_job_artifacts').selectAll().orderBy('id', 'desc').execute()
    const [one] = rows.filter((row) => row.job_id === newest.job.id)
    if (!one) throw new Error('no artifact')
    const { id: _, ...like } = one
    const expired = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        ...like,
        file_type: `other ${index}`,
        expire_at: '2026-01-01T00:00:00.000Z',
      }))
    await db.insertInto('ci_job_artifacts').values(expired(1000)).execute()
    const update = db.updateTable('ci_job_artifacts').set({ expire_at: now() })
    await update.where('job_id', '=', expiring.job.id).execute()
    await removeExpired(world.ctx)
    const left = await db.selectFrom('ci_job_artifacts').select('job_id').execute()
    expect(left.filter((row) => row.job_id === newest.job.id)).toHaveLength(1001)
    expect(left.filter((row) => row.job_id === expiring.job.id)).toEqual([])
  })

  test('with their pipeline', async () => {
    const to = await newPlace(build)
    const { at, pipeline, job } = await built(to, 'gone')
    expect((await ana.delete(`${to.path}/pipelines/${pipeline}`)).status).toBe(204)
    for (const path of [at, `${at}/artifacts`, `${at}/trace`, `${at}/artifacts/out.txt`]) {
      expect((await ana.get(path)).status).toBe(404)
    }
    const rows = await world.ctx.db
      .selectFrom('ci_job_artifacts')
      .select('id')
      .where('job_id', '=', job.id)
      .execute()
    expect(rows).toEqual([])
    await startPipeline(to)
  })
})
