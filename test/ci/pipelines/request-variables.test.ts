import { expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

const config = 'x: {script: y, rules: [{if: $CI_PIPELINE_SOURCE == "merge_request_event"}]}\n'

/** The variables about the merge request that the job of a new pipeline gets, by the end of each name. */
async function requestVariables(bench: Bench): Promise<Record<string, string>> {
  const made = await ana.post(`${bench.api}/1/pipelines`)
  expect(made.status, JSON.stringify(made.body)).toBe(200)
  const runner = await addRunner(world, ana, bench.project.id)
  let last: Record<string, string> = {}
  for (let job = await runner.request(); job; job = await runner.request()) {
    last = Object.fromEntries(
      job.variables.flatMap(({ key, value }: { key: string; value: string }) =>
        key.startsWith('CI_MERGE_REQUEST_') ? [[key.replace('CI_MERGE_REQUEST_', ''), value]] : [],
      ),
    )
    await runner.finish(job, 'success')
  }
  return last
}

async function stage(settings: Record<string, unknown>, more: Record<string, unknown>) {
  const bench = await openBench(world, ana, settings)
  const at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, ben.id, 30)
  bench.commit('main', { '.svc-ci.yml': config })
  bench.commit('topic', { 'a.txt': 'a' })
  await ana.post(`${at}/milestones`, { title: 'Next' })
  expect((await bench.open('topic', more)).status).toBe(200)
  return { bench, at }
}

test('jobs of a merge request get all variables about it', async () => {
  const { bench, at } = await stage(
    { squash_option: 'always' },
    { title: 'Draft: Try', description: 'words', labels: 'b,a', assignee_ids: [ben.id] },
  )
  const { body: milestones } = await ana.get(`${at}/milestones`)
  await ana.put(`${bench.api}/1`, { milestone_id: milestones[0].id })
  const { body } = await ana.get(`${bench.api}/1`)
  const { body: versions } = await ana.get(`${bench.api}/1/versions`)
  const url = `${world.ctx.config.externalUrl}/${bench.project.fullPath}`
  expect(await requestVariables(bench)).toEqual({
    ID: String(body.id),
    IID: '1',
    TITLE: 'Draft: Try',
    DESCRIPTION: 'words',
    DESCRIPTION_IS_TRUNCATED: 'false',
    LABELS: 'a,b',
    ASSIGNEES: 'ben',
    MILESTONE: 'Next',
    DRAFT: 'true',
    APPROVED: 'true',
    EVENT_TYPE: 'detached',
    PROJECT_ID: String(bench.project.id),
    PROJECT_PATH: bench.project.fullPath,
    PROJECT_URL: url,
    REF_PATH: 'refs/merge-requests/1/head',
    SOURCE_BRANCH_NAME: 'topic',
    SOURCE_BRANCH_PROTECTED: 'false',
    SOURCE_BRANCH_SHA: '',
    SOURCE_PROJECT_ID: String(bench.project.id),
    SOURCE_PROJECT_PATH: bench.project.fullPath,
    SOURCE_PROJECT_URL: url,
    TARGET_BRANCH_NAME: 'main',
    TARGET_BRANCH_PROTECTED: 'false',
    TARGET_BRANCH_SHA: '',
    DIFF_BASE_SHA: body.diff_refs.base_sha,
    DIFF_ID: String(versions[0].id),
    SQUASH_ON_MERGE: 'true',
  })
})

test('the variable of the approval is there once it is approved', async () => {
  const { bench, at } = await stage({}, {})
  await ana.post(`${at}/approval_rules`, { name: 'One', approvals_required: 1, user_ids: [ben.id] })
  expect((await requestVariables(bench)).APPROVED).toBeUndefined()
  expect((await ben.post(`${bench.api}/1/approve`)).status).toBe(201)
  expect((await requestVariables(bench)).APPROVED).toBe('true')
})

test('a project that never squashes says so, whatever the author asked for', async () => {
  const { bench } = await stage({ squash_option: 'never' }, { squash: true })
  expect((await requestVariables(bench)).SQUASH_ON_MERGE).toBe('false')
})

test('a pipeline of merged results gets the commits of both sides', async () => {
  const { bench } = await stage(
    { merge_pipelines_enabled: true },
    { description: 'x'.repeat(3000) },
  )
  const { body } = await ana.get(`${bench.api}/1`)
  const found = await requestVariables(bench)
  expect(found).toMatchObject({
    EVENT_TYPE: 'merged_result',
    REF_PATH: 'refs/merge-requests/1/merge',
    SOURCE_BRANCH_SHA: body.sha,
    TARGET_BRANCH_SHA: bench.project.git('rev-parse', 'main'),
    DESCRIPTION_IS_TRUNCATED: 'true',
  })
  expect(found.DESCRIPTION).toHaveLength(2700)
  const now = await ana.get(`${bench.api}/1`)
  expect(now.body.head_pipeline.sha).not.toBe(body.sha)
  expect(now.body.head_pipeline.status).toBe('success')
})
