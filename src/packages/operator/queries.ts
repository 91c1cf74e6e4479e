import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

export interface NamedFile {
  readonly file_sha256: string
  readonly size: number
  /** One of the places that name it: project, package and file. */
  readonly full_path: string
  readonly name: string
  readonly version: string | null
  readonly file_name: string
}

/** The distinct bytes that packages name, after a hash, in the order of the hashes. */
export async function listFilesAfter(db: Db, after: string, limit: number): Promise<NamedFile[]> {
  const { rows } = await sql<NamedFile>`
    SELECT f.file_sha256, f.size, p.full_path, k.name, k.version, min(f.file_name) AS file_name
    FROM package_files f JOIN packages k ON k.id = f.package_id JOIN projects p ON p.id = f.project_id
    WHERE f.file_sha256 > ${after} AND f.status = 'default' AND k.status <> 'pending_destruction'
    GROUP BY f.file_sha256 ORDER BY f.file_sha256 LIMIT ${limit}`.execute(db)
  return rows
}

/** Packages, files and bytes of each project that has any, the largest first. */
export async function listSizes(db: Db) {
  const { rows } = await sql<{ full_path: string; packages: number; files: number; bytes: number }>`
    SELECT p.full_path, count(DISTINCT f.package_id) AS packages, count(*) AS files,
      sum(f.size) AS bytes
    FROM package_files f JOIN projects p ON p.id = f.project_id
    GROUP BY f.project_id ORDER BY bytes DESC, p.full_path`.execute(db)
  return rows
}
