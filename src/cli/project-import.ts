import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { findProjectByPath, type ProjectRow } from '../access/find-queries.ts'
import { withProjectRole } from '../access/subjects.ts'
import { conflict, notFoundText } from '../base/problem.ts'
import { ownedName } from '../base/process-mark.ts'
import type { Ctx } from '../ctx.ts'
import {
  type Fetched,
  fetchWhole,
  type RemoteHead,
  readRemoteHead,
} from '../git/transfer/fetch-whole.ts'
import { getTargetNamespace } from '../projects/projects/create/access.ts'
import { createProject } from '../projects/projects/create/create-project.ts'
import { findNamespaceRowByPath } from '../projects/projects/queries.ts'
import { discardProject, hideProject } from '../projects/projects/removal/remove-project.ts'
import { moveRefs } from '../repositories/refs/move-refs.ts'
import { command, UsageError } from './command.ts'
import { withData } from './open.ts'

const visibilities = ['private', 'internal', 'public'] as const

interface Wanted {
  readonly namespace: string
  readonly path: string
  readonly visibility: (typeof visibilities)[number]
}

export const projectImport = command({
  name: 'project import',
  summary: 'Create a project from any repository that git can fetch',
  args: ['path-or-url'],
  options: {
    into: {
      type: 'string',
      value: '<group/name>',
      doc: 'Full path of the project; otherwise root/ and the name of the repository',
    },
    visibility: {
      type: 'string',
      value: '<word>',
      doc: 'private (the default), internal or public',
    },
  },
  async run(call) {
    const source = asSource(call.args[0] ?? '')
    const wanted = readWanted(source, call.options)
    return await withData(call, async (ctx) => {
      await assertFree(ctx, wanted)
      const scratch = join(ctx.config.data, 'tmp', ownedName('import-'))
      const onProgress = (text: string) => call.progress.say(text)
      const fetching = { scratch, signal: call.signal, onProgress }
      try {
        const head = await readRemoteHead(source, fetching)
        const fetched = await fetchWhole(source, head, fetching)
        onProgress('moving the objects in')
        return answer(await place(ctx, wanted, head, fetched), fetched)
      } finally {
        await rm(scratch, { recursive: true, force: true })
      }
    })
  },
})

/** A folder stays valid wherever git runs; anything else is git's to understand. */
function asSource(text: string): string {
  return existsSync(text) ? resolve(text) : text
}

function readWanted(
  source: string,
  options: { readonly into?: string; readonly visibility?: string },
): Wanted {
  const visibility = visibilities.find((one) => one === (options.visibility ?? 'private'))
  if (visibility === undefined) {
    throw new UsageError(`--visibility is one of ${visibilities.join(', ')}`)
  }
  const full = options.into ?? `root/${nameOf(source)}`
  const slash = full.lastIndexOf('/')
  if (slash < 1 || slash === full.length - 1) {
    throw new UsageError('--into is a full path such as group/name')
  }
  return { namespace: full.slice(0, slash), path: full.slice(slash + 1), visibility }
}

/** `https://example.com/team/tool.git/` is `tool`. */
function nameOf(source: string): string {
  const parts = source.split(/[/:]/).filter((part) => part !== '' && part !== '.git')
  const name = (parts.at(-1) ?? '').replace(/\.git$/, '')
  if (name === '') throw new UsageError('the project needs a name: --into group/name')
  return name
}

/** Said before an hour of fetching rather than after it. */
async function assertFree(ctx: Ctx, { namespace, path }: Wanted): Promise<void> {
  if (!(await findNamespaceRowByPath(ctx.db, namespace))) {
    throw notFoundText(`there is no group or user '${namespace}' to put it into`)
  }
  const { fullPath } = await getTargetNamespace(ctx, namespace)
  const taken = await findProjectByPath(ctx.db, `${fullPath}/${path}`)
  if (taken) throw conflict(`${fullPath}/${path} has already been taken`)
}

async function place(
  ctx: Ctx,
  wanted: Wanted,
  head: RemoteHead,
  fetched: Fetched,
): Promise<ProjectRow> {
  const project = await createProject(ctx, {
    ...wanted,
    defaultBranch: head.branch,
    objectFormat: head.objectFormat,
    importType: 'git',
  })
  try {
    await fetched.moveInto(ctx.git.open(project.id))
    const moves = fetched.refs.map(({ name, id }) => ({
      name,
      oldId: '0'.repeat(id.length),
      newId: id,
    }))
    if (moves.length > 0) {
      await moveRefs(ctx, await withProjectRole(ctx, project), { via: 'system', moves })
    }
    return project
  } catch (error) {
    await hideProject(ctx, project.id)
    await discardProject(ctx, project.id)
    throw error
  }
}

function answer(project: ProjectRow, { refs }: Fetched) {
  const count = (prefix: string) => refs.filter(({ name }) => name.startsWith(prefix)).length
  const [branches, tags] = [count('refs/heads/'), count('refs/tags/')]
  return {
    lines: [`${project.full_path}: ${branches} branches, ${tags} tags (project ${project.id})`],
    data: { id: project.id, full_path: project.full_path, branches, tags },
  }
}
