import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { endJob } from '../../../src/ci/pipelines/process/change-jobs.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let bench: Bench
let at: string
let iid: number
let branch: string
let count = 0

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, bea.id, 40)
  bench.commit('main', { '.svc-ci.yml': 'test: {script: make}' })
})
beforeEach(async () => {
  for (const user of [ana, bea]) await user.post('/todos/mark_as_done')
  count += 1
  branch = `work-${count}`
  bench.commit(branch, { [`${count}.txt`]: 'a' })
  iid = (await bench.open(branch)).body.iid
})

const waiting = async (who: Caller) => {
  const { body } = await who.get('/todos')
  return body.map((todo: { action_name: string }) => todo.action_name)
}

/** Runs a pipeline of the branch to this end. */
async function run(status: 'failed' | 'success', ref = branch): Promise<void> {
  const { body: pipeline } = await bea.post(`${at}/pipeline`, { ref })
  const { body: jobs } = await bea.get(`${at}/pipelines/${pipeline.id}/jobs`)
  const job = { id: jobs[0].id, pipeline_id: pipeline.id }
  await endJob(world.ctx, job, { status, reason: 'script_failure' })
  await world.runTasks()
}

const commit = (who: Caller, to: string, path: string, content: string) =>
  who.post(`${at}/repository/commits`, {
    branch: to,
    commit_message: 'More',
    actions: [{ action: 'create', file_path: path, content }],
  })

describe('a pipeline that fails', () => {
  test('reminds the author of its merge request, once', async () => {
    await run('failed')
    await run('failed')
    expect([await waiting(ana), await waiting(bea)]).toEqual([['build_failed'], []])
    const { body } = await ana.get('/todos?action=build_failed')
    expect(body).toMatchObject([
      { target_type: 'MergeRequest', target: { iid }, author: { username: 'ana' } },
    ])
  })

  test('is forgotten when the next one succeeds', async () => {
    await run('failed')
    await run('success')
    expect(await waiting(ana)).toEqual([])
  })

  test('reminds nobody of other branches, or of what is closed', async () => {
    await run('failed', 'main')
    expect(await waiting(ana)).toEqual([])
    await ana.put(`${bench.api}/${iid}`, { state_event: 'close' })
    await run('failed')
    expect(await waiting(ana)).toEqual([])
  })

  test('reminds whoever set it to be merged, too', async () => {
    await bea.post(`${at}/pipeline`, { ref: branch })
    const set = await bea.put(`${bench.api}/${iid}/merge`, { auto_merge: true })
    expect(set.status).toBe(200)
    await run('failed')
    expect([await waiting(ana), await waiting(bea)]).toEqual([['build_failed'], ['build_failed']])
  })

  test('is dealt with by whoever pushes something better', async () => {
    await run('failed')
    expect((await commit(bea, branch, `bea-${count}.txt`, 'x')).status).toBe(201)
    await world.runTasks()
    expect(await waiting(ana)).toEqual(['build_failed'])
    expect((await commit(ana, branch, `ana-${count}.txt`, 'x')).status).toBe(201)
    await world.runTasks()
    expect(await waiting(ana)).toEqual([])
  })
})

describe('a conflict', () => {
  const conflict = async () => {
    expect((await commit(bea, 'main', `${count}.txt`, 'other')).status).toBe(201)
    return bench.read(iid)
  }

  test('reminds the author, once while it lasts', async () => {
    expect((await conflict()).body.has_conflicts).toBe(true)
    expect([await waiting(ana), await waiting(bea)]).toEqual([['unmergeable'], []])
    await ana.post('/todos/mark_as_done')
    await commit(bea, 'main', `more-${count}.txt`, 'x')
    expect((await bench.read(iid)).body.has_conflicts).toBe(true)
    expect(await waiting(ana)).toEqual([])
  })

  test('is forgotten when it is gone', async () => {
    await conflict()
    await bea.post(`${at}/repository/commits`, {
      branch: 'main',
      commit_message: 'Take it back',
      actions: [{ action: 'delete', file_path: `${count}.txt` }],
    })
    expect((await bench.read(iid)).body.has_conflicts).toBe(false)
    expect(await waiting(ana)).toEqual([])
  })

  test('is none where there is nothing to merge', async () => {
    await ana.post(`${at}/repository/branches`, { branch: `empty-${count}`, ref: 'main' })
    await bench.open(`empty-${count}`)
    expect(await waiting(ana)).toEqual([])
  })
})
