import { callerKey } from '../../access/caller-key.ts'
import { Role } from '../../access/roles.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readContentAt } from '../../git/history/file.ts'
import type { ObjectId } from '../../git/types.ts'
import { codeOwnersPaths, type OwnedFiles } from './code-owners.ts'
import { compareWithOwners } from './compare-with-owners.ts'
import { findOwnerIds } from './owner-queries.ts'
import { replaceCodeOwnerRules } from './rule-queries.ts'

// Larger files are no list of owners.
const largestFile = 1024 * 1024
const roleNames: Readonly<Record<string, number>> = {
  developer: Role.developer,
  developers: Role.developer,
  maintainer: Role.maintainer,
  maintainers: Role.maintainer,
  owner: Role.owner,
  owners: Role.owner,
}

/** The entries of the target's CODEOWNERS file that the changed paths fall under. Reads git. */
export async function readOwnedFiles(
  ctx: Ctx,
  projectId: number,
  target: ObjectId,
  paths: readonly string[],
): Promise<OwnedFiles[]> {
  const repo = ctx.git.open(projectId)
  for (const path of codeOwnersPaths(ctx.config.vendor.folders)) {
    try {
      const content = await readContentAt(repo, { ref: target, path, limit: largestFile })
      if (!content) return []
      return await compareWithOwners({ text: content.toString('utf8'), paths }, callerKey(ctx))
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== 'not_found') throw error
    }
  }
  return []
}

interface Owned {
  readonly id: number
  readonly target_project_id: number
}

/** Replaces the code owners' rules of a merge request, in the caller's transaction (docs/contract/B-resolved §7). */
export async function saveCodeOwnerRules(
  ctx: Ctx,
  subject: Owned,
  owned: readonly OwnedFiles[],
): Promise<void> {
  const rules = []
  for (const { section, entry } of owned) {
    rules.push({
      name: entry.pattern,
      section: section.name,
      approvals_required: section.optional ? 0 : section.approvals,
      ...(await idsOf(ctx, subject.target_project_id, entry.owners)),
    })
  }
  await replaceCodeOwnerRules(ctx.db, subject.id, rules, ctx.now())
}

async function idsOf(ctx: Ctx, projectId: number, owners: readonly string[]) {
  const roles = owners.flatMap((owner) => {
    const role = owner.startsWith('@@') ? roleNames[owner.slice(2).toLowerCase()] : undefined
    return role === undefined ? [] : [role]
  })
  const names = owners
    .filter((owner) => owner.startsWith('@') && !owner.startsWith('@@'))
    .map((owner) => owner.slice(1))
  const emails = owners.filter((owner) => !owner.startsWith('@'))
  return findOwnerIds(ctx.db, projectId, { names, emails, roles }, dayOf(ctx.now()))
}
