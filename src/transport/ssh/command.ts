/** What a client asks to be run, read into one of the few things that there are. */
export type SshCommand =
  | { readonly kind: 'greeting' }
  | { readonly kind: 'fetch' | 'push'; readonly path: string }
  | {
      readonly kind: 'lfs'
      readonly path: string
      readonly operation: 'download' | 'upload'
    }

const longest = 4096

/** Undefined for everything that is none of git's; nothing is ever given to a shell. */
export function readCommand(line: string): SshCommand | undefined {
  if (line.trim() === '') return { kind: 'greeting' }
  const words = line.length > longest ? undefined : wordsOf(line.trim())
  if (!words) return undefined
  // `git upload-pack` is the same as `git-upload-pack`.
  const [name, ...rest] = words[0] === 'git' ? [`git-${words[1]}`, ...words.slice(2)] : words
  const path = pathOf(rest[0])
  if (path === undefined) return undefined
  if (name === 'git-upload-pack' && rest.length === 1) return { kind: 'fetch', path }
  if (name === 'git-receive-pack' && rest.length === 1) return { kind: 'push', path }
  const operation = rest[1]
  const isLfs = name === 'git-lfs-authenticate' && rest.length <= 3
  if (isLfs && (operation === 'download' || operation === 'upload')) {
    return { kind: 'lfs', path, operation }
  }
  return undefined
}

/** The words of a line as git quotes them for a shell: between single or double quotes, or behind a backslash. */
function wordsOf(line: string): string[] | undefined {
  const form = /^(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+))/s
  const words: string[] = []
  let word: string | undefined
  for (let rest = line; rest !== ''; ) {
    const gap = /^\s+/.exec(rest)
    if (gap) {
      if (word !== undefined) words.push(word)
      word = undefined
      rest = rest.slice(gap[0].length)
      continue
    }
    const found = form.exec(rest)
    if (!found) return undefined
    const [whole, single, double, escaped, plain] = found
    const text = single ?? double?.replace(/\\(.)/gs, '$1') ?? escaped ?? plain ?? ''
    word = (word ?? '') + text
    rest = rest.slice(whole.length)
  }
  return word === undefined ? words : [...words, word]
}

/** `/group/project.git` as the path of a project; undefined for what can be none. */
function pathOf(given: string | undefined): string | undefined {
  const path = (given ?? '')
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  // A number alone would be read as an id; only wikis of groups have a path of one part.
  if (!path.includes('/') && !path.endsWith('.wiki')) return undefined
  return /\p{Cc}/u.test(path) ? undefined : path
}
