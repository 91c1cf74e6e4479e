import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  findHeadPipeline,
  headPipelineStatuses,
} from '../../../src/review/merge-requests/pipeline-queries.ts'
import type { Db } from '../../../src/store/schema.ts'
import { plansOf } from '../../support/plans.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

test.each<[string, (db: Db) => Promise<unknown>]>([
  ['each of a list', (db) => headPipelineStatuses(db, [1, 2])],
  ['one', (db) => findHeadPipeline(db, 1)],
])('the pipeline of the head of %s is found by its commit', async (_what, ask) => {
  const plans = await plansOf(world.ctx.db, ask)
  const searched = plans.filter((step) => /pipelines|\bp\b/.test(step))
  expect(searched.join('\n')).toContain('pipelines_sha (project_id=? AND sha=?)')
  expect(searched.filter((step) => /pipelines_project|SCAN/.test(step))).toEqual([])
})
