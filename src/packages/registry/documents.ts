import { createHash, randomUUID } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { byteCache } from '../../base/byte-cache.ts'
import type { Ctx } from '../../ctx.ts'
import { isKnown } from '../../http/conditional-file.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import type { Db } from '../../store/schema.ts'
import { flushLater, inTransaction } from '../../store/transaction.ts'
import {
  beginDocument,
  type DocumentKey,
  deleteDocuments,
  findDocument,
  findDocumentTag,
  isNamed,
  storeDocument,
} from './document-queries.ts'
import type { PackageRow } from './queries.ts'

/** Metadata as clients download it. */
export interface ReadyDocument {
  /** A weak tag, since the document goes out both plain and compressed. */
  readonly etag: string
  /** Compressed by gzip. */
  readonly content: Buffer
}

const compress = promisify(gzip)
/** By their tags, which are hashes of the content. */
const recent = byteCache<ReadyDocument>(32 * 1024 * 1024, (one) => one.content.length)

/**
 * The document of this key, ready-made; `make` is asked only when there is none, or when what it was made of has
 * changed. When `make` gives nothing, there is no such document. The addresses in it are those of the server as it is now.
 */
export async function readDocument(
  ctx: Pick<Ctx, 'db' | 'config'>,
  asked: DocumentKey,
  make: () => Promise<string | undefined>,
): Promise<ReadyDocument | undefined> {
  const key = { ...asked, form: `${asked.form} ${ctx.config.externalUrl}` }
  const name = `${key.projectId} ${key.type} ${key.form} ${key.nameKey}`
  const tag = await cachedQuery(ctx.db, `package document ${name}`, (db) =>
    findDocumentTag(db, key),
  )
  if (tag !== undefined) {
    const known = recent.get(tag) ?? (await findDocument(ctx.db, key))
    if (known) {
      recent.set(known.etag, known)
      return known
    }
  }
  // Everybody may ask for any name: of one that nobody published nothing is written.
  if (key.nameKey !== '' && !(await isNamed(ctx.db, key))) return undefined
  return makeDocument(ctx, key, make)
}

async function makeDocument(
  ctx: Pick<Ctx, 'db'>,
  key: DocumentKey,
  make: () => Promise<string | undefined>,
): Promise<ReadyDocument | undefined> {
  const build = randomUUID()
  // A power cut may take these writes with it: the document is made again then.
  await unflushed(ctx, (db) => beginDocument(db, key, build))
  const text = await make()
  if (text === undefined) {
    const at = { project_id: key.projectId, package_type: key.type }
    await unflushed(ctx, (db) => deleteDocuments(db, at, [key.nameKey]))
    return undefined
  }
  const made = await readyDocument(text)
  await unflushed(ctx, (db) => storeDocument(db, key, { build, ...made }))
  return made
}

async function unflushed(ctx: Pick<Ctx, 'db'>, write: (db: Db) => Promise<void>): Promise<void> {
  await inTransaction(ctx, async ({ db }) => {
    await write(db)
    await flushLater(db)
  })
}

/** A document that is made for one answer alone, such as one of several projects. */
export async function readyDocument(text: string): Promise<ReadyDocument> {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 27)
  return { etag: `W/"${hash}"`, content: await compress(text, { level: 5 }) }
}

/** Call in each transaction that changes what the documents about a package are made of. */
export async function forgetDocuments(
  db: Db,
  at: Pick<PackageRow, 'project_id' | 'package_type' | 'name_key'>,
): Promise<void> {
  await deleteDocuments(db, at, [at.name_key, ''])
}

/** The answer with a document: 304 for who has it, compressed for who takes that. */
export function answerDocument(
  request: Pick<RequestFacts, 'method' | 'headers'>,
  document: ReadyDocument,
  type: string,
  more: Readonly<Record<string, string>> = {},
): Bytes {
  const { etag, content } = document
  const headers = { Vary: 'Origin, Accept, Accept-Encoding', ...more, ETag: etag }
  if (isKnown(request.headers, etag)) return { status: 304, body: '', type, headers }
  if (takesGzip(request.headers)) {
    return { body: content, type, headers: { ...headers, 'Content-Encoding': 'gzip' } }
  }
  // Whoever reads it gets the error of damaged content; before that, it must not end the process.
  const body = pipeline(Readable.from([content]), createGunzip(), () => {})
  return { body, type, headers }
}

function takesGzip(headers: RequestFacts['headers']): boolean {
  const given = headers['accept-encoding']
  return (
    typeof given === 'string' && /(^|,)\s*(x-)?gzip\s*(;\s*q=(?!0(\.0+)?\s*(,|$))|,|$)/i.test(given)
  )
}
