import type { NoteRow } from '../../../discussions/notes/entity.ts'
import type { Noteable } from '../../../discussions/notes/noteable.ts'
import type { Db } from '../../../store/schema.ts'

/** Whether a comment is on an issue that not everybody may see. */
export async function isOnConfidential(
  db: Db,
  noteable: Pick<Noteable, 'type' | 'id'>,
): Promise<boolean> {
  if (noteable.type !== 'Issue' || noteable.id === null) return false
  const row = await db
    .selectFrom('issues')
    .select('confidential')
    .where('id', '=', noteable.id)
    .executeTakeFirst()
  return row?.confidential === 1
}

export function findHookNote(db: Db, id: number): Promise<NoteRow | undefined> {
  return db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The newest comment of a project, for trying a hook out. */
export function findNewestNote(
  db: Db,
  projectId: number,
  confidential: boolean,
): Promise<NoteRow | undefined> {
  return db
    .selectFrom('notes')
    .selectAll('notes')
    .leftJoin('issues', (join) =>
      join
        .onRef('issues.id', '=', 'notes.noteable_id')
        .on('notes.noteable_type', '=', 'Issue')
        .on('issues.confidential', '=', 1),
    )
    .where('notes.project_id', '=', projectId)
    .where('notes.system', '=', 0)
    .where((is) => {
      const hidden = is.or([is('notes.internal', '=', 1), is('issues.id', 'is not', null)])
      return confidential ? hidden : is.not(hidden)
    })
    .orderBy('notes.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
