import { expect, test } from 'vitest'
import { listMemberViews } from '../../../src/projects/members/list-queries.ts'
import { plansOf } from '../../support/plans.ts'
import { openWorld } from '../../support/world.ts'

test('inherited and invited members are found by their groups', async () => {
  const world = await openWorld()
  const viewer = { userId: 1, admin: true, external: false, today: '2026-05-04' } as const
  const source = { type: 'project', id: 1, namespaceId: 1 } as const
  const scope = { source, all: true, viewer, inside: true }
  const page = { kind: 'offset', number: 1, perPage: 20, offset: 0 } as const
  const plans = await plansOf(world.ctx.db, (db) => listMemberViews(db, scope, {}, page))
  const searched = plans.filter((step) => /^(SEARCH|SCAN) m\b/.test(step))
  expect(searched.length).toBeGreaterThan(2)
  for (const step of searched) expect(step).toContain('(source_type=? AND source_id=?')
  await world.close()
})
