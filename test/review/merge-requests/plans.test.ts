import { expect, test } from 'vitest'
import {
  findHeadPipeline,
  headPipelineStatuses,
} from '../../../src/review/merge-requests/pipeline-queries.ts'
import { listMergedWith, listWithCommit } from '../../../src/review/merge-requests/queries.ts'
import type { Db } from '../../../src/store/schema.ts'
import { plansOf } from '../../support/plans.ts'
import { useWorld } from '../../support/world.ts'

const world = useWorld()

test.each<[string, (db: Db) => Promise<unknown>]>([
  ['each of a list', (db) => headPipelineStatuses(db, [1, 2])],
  ['one', (db) => findHeadPipeline(db, 1)],
])('the pipeline of the head of %s is found by its commit', async (_what, ask) => {
  const plans = await plansOf(world.ctx.db, ask)
  const searched = plans.filter((step) => /pipelines|\bp\b/.test(step))
  expect(searched.join('\n')).toContain('pipelines_sha (project_id=? AND sha=?)')
  expect(searched.filter((step) => /pipelines_project|SCAN/.test(step))).toEqual([])
})

test.each<[string, (db: Db) => Promise<unknown>, string[]]>([
  [
    'one',
    (db) => listWithCommit(db, 1, 'a'),
    ['merge_request_commits', 'by_merge_commit', 'by_squash_commit'],
  ],
  [
    'many, as a deployment asks,',
    (db) => listMergedWith(db, 1, ['a', 'b']),
    ['by_merge_commit', 'by_squash_commit', 'by_merged_commit'],
  ],
])('the merge requests of %s of the commits are found by it', async (_what, ask, ways) => {
  const plans = (await plansOf(world.ctx.db, ask)).join('\n')
  for (const way of ways) expect(plans).toMatch(new RegExp(`SEARCH.*${way} .*=\\?`))
  expect(plans).toContain('SEARCH merge_requests USING INTEGER PRIMARY KEY')
  expect(plans).not.toMatch(/target_project_id=|SCAN merge_requests/)
})
