import { type ApiReply, asRecord, fileForm } from '../place/api.ts'
import type { Random } from '../random.ts'
import type { Target } from './git-writers.ts'
import { orLost, outcomeOf, type Writer } from './writer.ts'

/** How many of the oldest and newest records are looked at again after each kill. */
const LOOKED_AT = 8

/** Uploads files. */
export function uploader({ api, id }: Target, random: Random): Writer {
  const uploads: { readonly path: string; readonly text: string }[] = []
  return {
    name: 'upload',
    write: () =>
      orLost(async () => {
        const text = random.word(2000)
        const reply = await api.call('POST', `/projects/${id}/uploads`, fileForm('a.txt', text))
        if (reply.status < 300) {
          uploads.push({ path: `/projects/${id}${asRecord(reply.body).url}`, text })
        }
        return outcomeOf(reply)
      }),
    check: () =>
      checkSome(uploads, async ({ path, text }) => {
        const { status, body } = await api.call('GET', path)
        return status === 200 && body === text ? undefined : `upload ${path} answers ${status}`
      }),
  }
}

/** Creates issues, the plainest of records. */
export function issueWriter({ api, id }: Target): Writer {
  const issues: { readonly path: string; readonly title: string }[] = []
  let count = 0
  return {
    name: 'issue',
    write: () =>
      orLost(async () => {
        count += 1
        const title = `Issue ${count}`
        const reply = await api.call('POST', `/projects/${id}/issues`, { title })
        if (reply.status < 300) {
          issues.push({ path: `/projects/${id}/issues/${asRecord(reply.body).iid}`, title })
        }
        return outcomeOf(reply)
      }),
    check: () =>
      checkSome(issues, async ({ path, title }) => {
        const { status, body } = await api.call('GET', path)
        return asRecord(body).title === title ? undefined : `${path} answers ${status}`
      }),
  }
}

/** Writes pages of the wiki. */
export function wikiWriter({ api, id }: Target): Writer {
  const pages: { readonly path: string; readonly content: string }[] = []
  let count = 0
  return {
    name: 'wiki page',
    write: () =>
      orLost(async () => {
        count += 1
        const page = { title: `page-${count}`, content: `Text ${count}` }
        const reply = await api.call('POST', `/projects/${id}/wikis`, page)
        if (reply.status < 300) {
          pages.push({ path: `/projects/${id}/wikis/${page.title}`, content: page.content })
        }
        return outcomeOf(reply)
      }),
    check: () =>
      checkSome(pages, async ({ path, content }) => {
        const { status, body } = await api.call('GET', path)
        return asRecord(body).content === content ? undefined : `${path} answers ${status}`
      }),
  }
}

/** Opens merge requests and merges them into `main`. */
export function merger({ api, id }: Target): Writer {
  const merged: { readonly iid: unknown; readonly file: string }[] = []
  const at = `/projects/${id}`
  let count = 0
  return {
    name: 'merge',
    write: () =>
      orLost(async () => {
        count += 1
        const branch = `merge-${count}`
        const commit = await api.call('POST', `${at}/repository/commits`, {
          branch,
          start_branch: 'main',
          commit_message: branch,
          actions: [{ action: 'create', file_path: `${branch}.txt`, content: branch }],
        })
        if (commit.status >= 300) return outcomeOf(commit)
        const request = { title: branch, source_branch: branch, target_branch: 'main' }
        const opened = await api.call('POST', `${at}/merge_requests`, request)
        if (opened.status >= 300) return outcomeOf(opened)
        const { iid } = asRecord(opened.body)
        const reply = await mergeWhenReady(() =>
          api.call('PUT', `${at}/merge_requests/${iid}/merge`),
        )
        if (reply.status === 200) merged.push({ iid, file: `${branch}.txt` })
        return outcomeOf(reply)
      }),
    check: () =>
      checkSome(merged, async ({ iid, file }) => {
        const { body } = await api.call('GET', `${at}/merge_requests/${iid}`)
        const { state } = asRecord(body)
        if (state !== 'merged') return `merge request ${iid} is ${state}, acknowledged was merged`
        const { status } = await api.call('GET', `${at}/repository/files/${file}?ref=main`)
        return status === 200 ? undefined : `${file} of merge request ${iid} is not on main`
      }),
  }
}

/** Whether it can be merged is looked at in the background; clients ask again then. */
async function mergeWhenReady(merge: () => Promise<ApiReply>): Promise<ApiReply> {
  for (let tries = 0; ; tries += 1) {
    const reply = await merge()
    if ((reply.status !== 405 && reply.status !== 422) || tries === 20) return reply
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The faults of the first records and the last ones. */
async function checkSome<T>(
  records: readonly T[],
  faultOf: (record: T) => Promise<string | undefined>,
): Promise<string[]> {
  const some = [...new Set([...records.slice(0, LOOKED_AT), ...records.slice(-LOOKED_AT)])]
  const faults = await Promise.all(some.map(faultOf))
  return faults.filter((fault) => fault !== undefined)
}
