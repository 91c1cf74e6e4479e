import { GitError } from './error.ts'

/** Repositories beside the code of projects. */
export type WikiOrSnippetKind = 'project_wiki' | 'group_wiki' | 'snippet'

export interface WikiOrSnippetName {
  readonly kind: WikiOrSnippetKind
  /** Of the project, group or snippet. */
  readonly id: number
}

/** Which repository is meant: a number is the code of that project. */
export type RepoName = number | WikiOrSnippetName

const endings: Readonly<Record<WikiOrSnippetKind, string>> = {
  project_wiki: '.wiki',
  group_wiki: '.group-wiki',
  snippet: '.snippet',
}

/** `17`, `17.wiki`, `17.group-wiki`, `17.snippet`: the folder's name, and the name in caches. */
export function repositoryKey(name: RepoName): string {
  const id = typeof name === 'number' ? name : name.id
  if (!Number.isSafeInteger(id) || id < 0) throw new GitError('invalid', 'not a repository id')
  return typeof name === 'number' ? String(id) : `${id}${endings[name.kind]}`
}

/** Which repository a folder of this name holds; undefined for what is none. */
export function nameOfFolder(folder: string): RepoName | undefined {
  const [, number = '', ending = ''] = /^(0|[1-9]\d{0,14})((?:\.[a-z-]+)?)\.git$/.exec(folder) ?? []
  if (number === '') return undefined
  const id = Number(number)
  if (ending === '') return id
  const kinds = Object.keys(endings) as WikiOrSnippetKind[] // they are the keys by its type
  const kind = kinds.find((one) => endings[one] === ending)
  return kind && { kind, id }
}
