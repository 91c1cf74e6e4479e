import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { audit } from '../../access/audit.ts'
import type { Project } from '../../access/subjects.ts'
import { invalid, tooLarge } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { UploadedFile } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { readCertificate } from './certificate.ts'
import {
  countSecureFiles,
  deleteSecureFile,
  insertSecureFile,
  type SecureFileRow,
} from './queries.ts'

const PURPOSE = 'ci_secure_files.file'
const MOST_BYTES = 5 * 1024 * 1024
const MOST_FILES = 100
const NAME = /^[\w.-]+$/
const CERTIFICATES = ['.cer', '.crt', '.der', '.pem']

const taken = {
  'ci_secure_files.project_id, ci_secure_files.name': () =>
    invalid({ name: ['has already been taken'] }),
}

/** Keeps a file for the jobs of a project, sealed on the disk. */
export async function saveSecureFile(
  ctx: Ctx,
  project: Project,
  input: { readonly name: string; readonly file: UploadedFile },
): Promise<SecureFileRow> {
  const { name, file } = input
  if (file.size > MOST_BYTES) throw tooLarge()
  if (!NAME.test(name)) throw invalid({ name: ['is invalid'] })
  const bytes = await readFile(file.path)
  const facts = CERTIFICATES.includes(extname(name)) ? readCertificate(bytes) : undefined
  const sealed = ctx.vault.seal(bytes.toString('base64'), PURPOSE)
  const stored = await ctx.files.put([Buffer.from(sealed)])
  return await inTransaction(ctx, async (ctx) => {
    if ((await countSecureFiles(ctx.db, project.id)) >= MOST_FILES) {
      throw invalid({
        base: [`Maximum number of secure files (${MOST_FILES}) exceeded`],
      })
    }
    const row = {
      project_id: project.id,
      name,
      checksum: createHash('sha256').update(bytes).digest('hex'),
      sealed_file: stored.sha256,
      size: bytes.length,
      metadata: facts ? JSON.stringify(facts) : null,
      expires_at: facts?.expires_at ?? null,
      created_at: ctx.now(),
    }
    const saved = await uniquely(taken, () => insertSecureFile(ctx.db, row))
    await record(ctx, saved, 'secure_file_created')
    return saved
  })
}

/** The bytes that were uploaded. */
export async function openSecureFile(
  ctx: Pick<Ctx, 'files' | 'vault'>,
  row: SecureFileRow,
): Promise<Buffer> {
  const sealed = await ctx.files.read(row.sealed_file)
  return Buffer.from(ctx.vault.open(sealed.toString('latin1'), PURPOSE), 'base64')
}

export async function removeSecureFile(ctx: Ctx, row: SecureFileRow): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await deleteSecureFile(ctx.db, row.id)
    await record(ctx, row, 'secure_file_deleted')
  })
}

async function record(ctx: Ctx, row: SecureFileRow, action: string): Promise<void> {
  await audit(ctx, {
    entity: { type: 'Project', id: row.project_id },
    action,
    details: { secure_file_id: row.id, name: row.name },
  })
}
