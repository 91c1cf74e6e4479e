import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

export interface AttributeSubject {
  readonly type: 'user' | 'group' | 'project'
  readonly id: number
}

export interface Attribute {
  readonly key: string
  readonly value: string
}

export async function listAttributes(db: Db, subject: AttributeSubject): Promise<Attribute[]> {
  return await db
    .selectFrom('custom_attributes')
    .select(['key', 'value'])
    .where('subject_type', '=', subject.type)
    .where('subject_id', '=', subject.id)
    .orderBy('id')
    .execute()
}

export async function saveAttribute(
  db: Db,
  subject: AttributeSubject,
  attribute: Attribute,
  now: Instant,
): Promise<void> {
  await db
    .insertInto('custom_attributes')
    .values({
      subject_type: subject.type,
      subject_id: subject.id,
      ...attribute,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['subject_type', 'subject_id', 'key'])
        .doUpdateSet({ value: attribute.value, updated_at: now }),
    )
    .execute()
}

export async function deleteAttribute(
  db: Db,
  subject: AttributeSubject,
  key: string,
): Promise<boolean> {
  const done = await db
    .deleteFrom('custom_attributes')
    .where('subject_type', '=', subject.type)
    .where('subject_id', '=', subject.id)
    .where('key', '=', key)
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}
