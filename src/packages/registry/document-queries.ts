import type { PackageType } from '../../store/schema/packages.ts'
import type { Db } from '../../store/schema.ts'

/** Which metadata document: of one name in one project, in one of its forms. */
export interface DocumentKey {
  readonly projectId: number
  readonly type: PackageType
  readonly nameKey: string
  readonly form: string
}

function documents(db: Db, key: DocumentKey) {
  return db
    .selectFrom('package_documents')
    .where('project_id', '=', key.projectId)
    .where('package_type', '=', key.type)
    .where('name_key', '=', key.nameKey)
    .where('form', '=', key.form)
}

/** Whether a project has a package of the name that a document is about. */
export async function isNamed(db: Db, key: Omit<DocumentKey, 'form'>): Promise<boolean> {
  const row = await db
    .selectFrom('packages')
    .select('id')
    .where('project_id', '=', key.projectId)
    .where('package_type', '=', key.type)
    .where('name_key', '=', key.nameKey)
    .where('status', '<>', 'pending_destruction')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The version tag of a document that is made. */
export async function findDocumentTag(db: Db, key: DocumentKey): Promise<string | undefined> {
  const row = await documents(db, key).select('etag').executeTakeFirst()
  return row?.etag ?? undefined
}

export async function findDocument(
  db: Db,
  key: DocumentKey,
): Promise<{ etag: string; content: Buffer } | undefined> {
  const row = await documents(db, key).select(['etag', 'content']).executeTakeFirst()
  return row?.etag && row.content ? { etag: row.etag, content: row.content } : undefined
}

/** Says who makes the document now; whoever began before may not store theirs any more. */
export async function beginDocument(db: Db, key: DocumentKey, build: string): Promise<void> {
  await db
    .insertInto('package_documents')
    .values({
      project_id: key.projectId,
      package_type: key.type,
      name_key: key.nameKey,
      form: key.form,
      build,
    })
    .onConflict((on) =>
      on
        .columns(['project_id', 'package_type', 'name_key', 'form'])
        .doUpdateSet({ build, etag: null, content: null }),
    )
    .execute()
}

/** Stores a made document, unless what it was made of has changed since it was begun. */
export async function storeDocument(
  db: Db,
  key: DocumentKey,
  made: { readonly build: string; readonly etag: string; readonly content: Buffer },
): Promise<void> {
  await db
    .updateTable('package_documents')
    .set({ etag: made.etag, content: made.content })
    .where('project_id', '=', key.projectId)
    .where('package_type', '=', key.type)
    .where('name_key', '=', key.nameKey)
    .where('form', '=', key.form)
    .where('build', '=', made.build)
    .execute()
}

/** Forgets every document about these names of a project; `''` is that of documents about all names. */
export async function deleteDocuments(
  db: Db,
  at: { readonly project_id: number; readonly package_type: PackageType },
  nameKeys: readonly string[],
): Promise<void> {
  await db
    .deleteFrom('package_documents')
    .where('project_id', '=', at.project_id)
    .where('package_type', '=', at.package_type)
    .where('name_key', 'in', [...nameKeys])
    .execute()
}
