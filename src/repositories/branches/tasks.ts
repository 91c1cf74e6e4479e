import { z } from 'zod'
import { SYSTEM } from '../../access/actor.ts'
import { getVisibleProject } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findRef } from '../../git/refs/refs.ts'
import { noObject } from '../../git/types.ts'
import { branchStates } from '../refs/branch-state.ts'
import { moveRefs } from '../refs/move-refs.ts'
import { branchOf } from '../refs/moves.ts'
import { mergedBranches } from './merged.ts'

/** Deletes the branches whose work is in the default branch; protected ones stay (docs/contract/B-resolved §4). */
export const deleteMergedBranches = task({
  name: 'branches.delete_merged',
  payload: z.object({ project_id: z.number().int() }),
  attempts: 3,
  lane: 'slow',
  async handler(given: Ctx, { project_id }, signal) {
    const ctx = { ...given, actor: SYSTEM }
    try {
      const project = await getVisibleProject(ctx, String(project_id))
      const repo = ctx.git.open(project.id)
      const stateOf = await branchStates(ctx, project)
      for (const ref of await mergedBranches(repo, project, signal)) {
        const branch = branchOf(ref.name) ?? ''
        if (branch === project.default_branch || stateOf(branch).protected) continue
        // What was pushed meanwhile is not merged.
        if ((await findRef(repo, ref.name, signal))?.id !== ref.id) continue
        const move = { name: ref.name, oldId: ref.id, newId: noObject }
        await moveRefs(ctx, project, { via: 'system', moves: [move] })
      }
    } catch (error) {
      // The project went meanwhile, and its branches with it.
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    }
  },
})
