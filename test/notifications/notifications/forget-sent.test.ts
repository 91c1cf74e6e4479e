import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { forgetSent } from '../../../src/notifications/notifications/tasks.ts'
import { openWorld } from '../../support/world.ts'

test('links of mails are forgotten after a year, some at a time', async () => {
  const world = await openWorld()
  const { db } = world.ctx
  const sent = (created_at: string) => ({
    digest: randomBytes(32),
    user_id: world.root.id,
    subject_type: 'issue' as const,
    subject_id: 1,
    created_at,
  })
  const old = Array.from({ length: 1500 }, () => sent('2025-05-04T09:59:59.999Z'))
  await db.insertInto('sent_notifications').values(old).execute()
  await db.insertInto('sent_notifications').values(sent('2025-05-04T10:00:00.000Z')).execute()
  const count = async () =>
    (await db.selectFrom('sent_notifications').select('id').execute()).length
  await expect(forgetSent.handler(world.ctx, {}, AbortSignal.abort())).rejects.toThrow()
  expect(await count()).toBe(501)
  await forgetSent.handler(world.ctx, {}, new AbortController().signal)
  expect(await count()).toBe(1)
  await world.close()
})
