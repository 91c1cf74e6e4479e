import type { World } from './world.ts'

/** Makes a user a member of a project, at a level that may change later. */
export async function addMember(
  world: World,
  projectId: number,
  userId: number,
  accessLevel: number,
): Promise<void> {
  const now = world.ctx.now()
  await world.ctx.db
    .insertInto('members')
    .values({
      source_type: 'project',
      source_id: projectId,
      user_id: userId,
      access_level: accessLevel,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await world.ctx.db
    .updateTable('members')
    .set({ access_level: accessLevel })
    .where('source_type', '=', 'project')
    .where('source_id', '=', projectId)
    .where('user_id', '=', userId)
    .execute()
}
