import { commitFiles, type TestFile } from './fast-import.ts'
import { git } from './git.ts'
import { addProject, type TestProject } from './project.ts'
import type { Caller, Reply, World } from './world.ts'

/** A project with a `main` branch, and what tests of merge requests do with it again and again. */
export interface Bench {
  readonly project: TestProject
  /** `/projects/7/merge_requests` */
  readonly api: string
  /** Puts a commit on a branch that begins at `from` when it is new; as if it had been there all along. */
  commit(branch: string, files: Readonly<Record<string, TestFile>>, from?: string): string
  /** Opens a merge request into `main` from a branch, which must exist, and lets it be prepared and checked. */
  open(branch: string, more?: Readonly<Record<string, unknown>>, caller?: Caller): Promise<Reply>
  /** The merge request as it is now, all tasks done and checked. */
  read(iid: number, caller?: Caller): Promise<Reply>
}

let count = 0

/** Lays out a project of its own; settings are those of the project. */
export async function openBench(
  world: World,
  owner: Caller,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Bench> {
  count += 1
  const project = await addProject(world, owner, 'empty', { path: `bench-${count}`, settings })
  const repo = { path: project.path }
  commitFiles(repo, {
    files: { 'README.md': 'one\ntwo\nthree\n' },
    message: 'Begin\n',
    parents: [],
  })
  await world.ctx.db
    .updateTable('projects')
    .set({ empty_repo: 0 })
    .where('id', '=', project.id)
    .execute()
  const api = `/projects/${project.id}/merge_requests`
  const read = async (iid: number, caller = owner) => {
    await world.runTasks()
    await caller.get(`${api}/${iid}`)
    await world.runTasks()
    return caller.get(`${api}/${iid}`)
  }
  return {
    project,
    api,
    commit(branch, files, from = 'main') {
      const ref = `refs/heads/${branch}`
      const known = git(project.path, ['for-each-ref', '--format=%(objectname)', ref])
      const parents = [known === '' ? `${from}^0` : known]
      return commitFiles(repo, { files, ref, parents, message: `Change ${branch}\n` })
    },
    async open(branch, more = {}, caller = owner) {
      const body = {
        source_branch: branch,
        target_branch: 'main',
        title: `Take ${branch}`,
        ...more,
      }
      const reply = await caller.post(api, body)
      if (reply.status !== 201) return reply
      return read(reply.body.iid, caller)
    },
    read,
  }
}
