import { createHash } from 'node:crypto'
import { type BigIntStats, createReadStream, statSync } from 'node:fs'
import { later } from '../../../base/clock.ts'
import { isDiskFull } from '../../../base/full-disk.ts'
import type { Ctx } from '../../../ctx.ts'
import { findReferenced } from '../../../store/file-references.ts'
import type { BackupSource } from '../mend/backup-source.ts'
import { listStoredAfter, type StoredRow } from '../queries.ts'
import { type Finding, finding, type Manner } from './finding.ts'
import { ReadStamps } from './read-stamps.ts'

const rowsAtOnce = 20_000
/** How long a quick look may read files that have changed since they were last read, or were never. */
const quickReadMs = 10_000
/** A day later than what takes such files away by itself. */
const unnamedDays = 4
const dayMs = 86_400_000
const mostNamed = 50
const namesAtOnce = 500

type What = 'is missing' | 'has another size' | 'has other content than its hash'

interface Bad {
  readonly row: StoredRow
  readonly what: What
}

/** Rows whose files are missing or have changed, and files that no row names. */
export async function storedFileFindings(
  ctx: Pick<Ctx, 'db' | 'files' | 'config' | 'now'>,
  manner: Manner,
  backup: BackupSource,
): Promise<Finding[]> {
  const { bad, seen, unread } = await findBad(ctx, manner)
  const findings: Finding[] = []
  for (const one of bad) {
    const { row, what } = one
    const text = `${row.what}: its stored file ${row.sha256} ${what}`
    const isMended = manner.mend && (await mendFile(ctx, row.sha256, backup))
    findings.push(
      isMended
        ? finding('stored file', 'ok', `${text}; put back from the backup ${isMended}`)
        : finding('stored file', 'failure', text),
    )
  }
  const shown = findings.slice(0, mostNamed)
  const more = findings.length - shown.length
  if (more > 0) shown.push(finding('stored files', 'failure', `${more} more are lost or damaged`))
  if (findings.length === 0) {
    const rest = unread === 0 ? '' : `, the content of ${unread} is still to be read (--fsck)`
    shown.push(finding('stored files', 'ok', `${seen} are there${rest}`))
  }
  return [...shown, ...(await unnamedFinding(ctx, manner))]
}

async function findBad(ctx: Pick<Ctx, 'db' | 'files' | 'config'>, manner: Manner) {
  const stamps = new ReadStamps(ctx.config.data)
  const bad: Bad[] = []
  const names = new Set<string>()
  const end = performance.now() + (manner.deep ? Number.POSITIVE_INFINITY : quickReadMs)
  let unread = 0
  for await (const row of allStored(ctx.db)) {
    manner.signal.throwIfAborted()
    names.add(row.sha256)
    const found = faultAt(ctx.files.pathOf(row.sha256), row)
    if (typeof found === 'string') bad.push({ row, what: found })
    else if (!manner.deep && stamps.has(row.sha256, stampOf(found))) continue
    else if (performance.now() > end) unread += 1
    else if (await isWhole(ctx.files.pathOf(row.sha256), row.sha256)) {
      stamps.add(row.sha256, stampOf(found))
    } else bad.push({ row, what: 'has other content than its hash' })
  }
  await stamps.keep(names).catch((error: unknown) => {
    if (!isDiskFull(error)) throw error
  })
  return { bad: await stillNamed(ctx, bad), seen: names.size, unread }
}

async function* allStored(db: Ctx['db']): AsyncGenerator<StoredRow> {
  for (let after = ''; ; ) {
    const rows = await listStoredAfter(db, after, rowsAtOnce)
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    after = last.sha256
  }
}

/** Without what was deleted while we looked. */
async function stillNamed({ db }: Pick<Ctx, 'db'>, bad: readonly Bad[]): Promise<Bad[]> {
  if (bad.length === 0) return []
  const named = new Set<string>()
  for await (const { sha256 } of allStored(db)) named.add(sha256)
  return bad.filter(({ row }) => named.has(row.sha256))
}

function faultAt(path: string, row: StoredRow): What | BigIntStats {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (!stats) return 'is missing'
  if (row.size !== null && Number(stats.size) !== row.size) return 'has another size'
  return stats
}

/** Whoever writes into a file changes one of these, be it by accident. */
function stampOf({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${size}.${mtimeNs}.${ctimeNs}.${ino}`
}

async function isWhole(path: string, sha256: string): Promise<boolean> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  } catch {
    return false
  }
  return hash.digest('hex') === sha256
}

/** Gives the backup that it came from. */
async function mendFile(
  { files }: Pick<Ctx, 'files'>,
  sha256: string,
  backup: BackupSource,
): Promise<string | undefined> {
  const found = await backup.findFile(sha256)
  if (!found) return undefined
  await files.put(createReadStream(found.path))
  return found.backup
}

/** Files that no row names: an upload that was cut off, or a database that is older than the files. */
async function unnamedFinding(
  { db, files, now }: Pick<Ctx, 'db' | 'files' | 'now'>,
  { mend, signal }: Manner,
): Promise<Finding[]> {
  const before = later(now(), -unnamedDays * dayMs)
  let count = 0
  let names: string[] = []
  const look = async () => {
    const referenced = await findReferenced(db, names)
    for (const name of names) {
      if (referenced.has(name)) continue
      if (!mend || (await files.deleteOlder(name, before))) count += 1
    }
    names = []
  }
  for await (const name of files.listOlder(before)) {
    signal.throwIfAborted()
    names.push(name)
    if (names.length === namesAtOnce) await look()
  }
  if (names.length > 0) await look()
  if (count === 0) return []
  if (mend) return [finding('stored files', 'ok', `removed ${count} that nothing names`)]
  return [
    finding(
      'stored files',
      'warning',
      `${count} are there that nothing names, --mend removes them`,
    ),
  ]
}
