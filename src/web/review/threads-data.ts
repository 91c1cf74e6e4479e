import { call, may } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { renderMarkdown } from '../../markdown/render.ts'
import { mergeRequestThreads } from '../../review/merge-requests/threads.ts'
import { withoutSuggestions } from '../../review/suggestions/parse.ts'
import type { PageCtx } from '../page-ctx.ts'
import type { ProjectData } from '../project/frame.tsx'

export type ThreadData = DataOf<typeof mergeRequestThreads.listThreads>['items'][number]
type Note = ThreadData['notes'][number]

export interface ShownNote extends Note {
  readonly html: string
}

/** A thread with its texts rendered, and what this person may do in it. */
export interface ShownThread extends Omit<ThreadData, 'notes'> {
  readonly notes: readonly ShownNote[]
  readonly mayResolve: boolean
}

/** Any of the two. */
export interface HasNotes {
  readonly notes: readonly Note[]
}

interface RequestPath {
  readonly id: number
  readonly merge_request_iid: string | number
}

const PER_PAGE = 100
/** More threads than this are nobody's reading matter on one page; the overview has them in pages. */
const MOST_PAGES = 5

/** All threads of a merge request, in the order in which they were begun; the API shows strangers none. */
export async function listAllThreads(ctx: PageCtx, path: RequestPath): Promise<ThreadData[]> {
  if (!(await may(mergeRequestThreads.listThreads, ctx, { path }))) return []
  const found: ThreadData[] = []
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const query = { per_page: PER_PAGE, page }
    const { items } = await call(mergeRequestThreads.listThreads, ctx, { path, query })
    found.push(...items)
    if (items.length < PER_PAGE) break
  }
  return found
}

/** Threads as pages show them. */
export function showThreads(
  ctx: PageCtx,
  project: ProjectData,
  path: RequestPath,
  threads: readonly ThreadData[],
): Promise<ShownThread[]> {
  return Promise.all(
    threads.map(async (thread): Promise<ShownThread> => {
      const place = { ...path, discussion_id: thread.id }
      const notes = thread.notes.map(async (note) => {
        const text = note.suggestions?.length ? withoutSuggestions(note.body) : note.body
        return { ...note, html: await renderMarkdown(ctx, text, project.path_with_namespace) }
      })
      const resolvable = thread.notes.some((note) => note.resolvable)
      return {
        ...thread,
        notes: await Promise.all(notes),
        mayResolve:
          resolvable && (await may(mergeRequestThreads.resolveThread, ctx, { path: place })),
      }
    }),
  )
}

export function isResolved({ notes }: HasNotes): boolean {
  const resolvable = notes.filter((note) => note.resolvable)
  return resolvable.length > 0 && resolvable.every((note) => note.resolved)
}

/** Whether somebody still waits for an answer in it. */
export function isOpen(thread: HasNotes): boolean {
  return thread.notes.some((note) => note.resolvable) && !isResolved(thread)
}
