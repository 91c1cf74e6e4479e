import type { Shown } from '../../context.ts'
import { changeOf } from '../../parts/diff.tsx'
import { fileId } from '../../parts/diff-lines.ts'
import { iconAddress } from '../../parts/icon.tsx'
import type { IconName } from '../../parts/icon-names.ts'
import { addressIn } from '../../parts/link.tsx'
import { type Markup, markup } from '../../parts/markup.ts'
import { isOpen } from '../threads-data.ts'
import { type ChangedFile, type ChangeSet, changesAddress } from './change-set.ts'
import { isIn, positionOf } from './lines.ts'

interface Folder {
  readonly name: string
  readonly folders: Map<string, Folder>
  readonly files: ChangedFile[]
}

function treeOf(files: readonly ChangedFile[]): Folder {
  const root: Folder = { name: '', folders: new Map(), files: [] }
  for (const file of files) {
    let at = root
    for (const name of file.new_path.split('/').slice(0, -1)) {
      const next = at.folders.get(name) ?? { name, folders: new Map(), files: [] }
      at.folders.set(name, next)
      at = next
    }
    at.files.push(file)
  }
  return root
}

/** A folder that holds nothing but another is one line with it. */
function joined(folder: Folder): Folder {
  const [only] = folder.folders.values()
  if (!only || folder.folders.size > 1 || folder.files.length > 0) return folder
  const inner = joined(only)
  return { ...inner, name: `${folder.name}/${inner.name}` }
}

/** The changed files as a tree, with their lines, open threads and marks. */
export function treeItems(shown: Shown, set: ChangeSet): Markup[] {
  const open = set.threads.filter(isOpen).flatMap((thread) => positionOf(thread) ?? [])
  const fileItem = (file: ChangedFile) => {
    const count = open.filter((position) => isIn(position, file)).length
    const [icon, word] = changeOf(file)
    const marks = [
      count > 0
        ? markup`<span class="count" title="${count} open">${picture(shown, 'comment', 'Open threads')} ${count}</span>`
        : NOTHING,
      file.viewed === 'yes' ? picture(shown, 'eye', 'Viewed') : NOTHING,
      file.viewed === 'changed'
        ? picture(shown, 'history', 'Changed since you viewed it')
        : NOTHING,
      file.additions === null
        ? NOTHING
        : markup`<span class="facts"><span class="added">+${file.additions}</span> <span class="removed">−${file.deletions ?? 0}</span></span>`,
    ]
    const name = file.new_path.split('/').at(-1) ?? ''
    return markup`<li><a href="#${fileId(file)}" title="${file.new_path}" class="row ${file.viewed}">${picture(shown, icon, word)}<span class="main">${name}</span>${marks}</a></li>`
  }
  const itemsOf = (folder: Folder): Markup[] => [
    ...[...folder.folders.values()].map((one) => {
      const inner = joined(one)
      return markup`<li><details open><summary class="mono quiet">${inner.name}/</summary><ul>${itemsOf(inner)}</ul></details></li>`
    }),
    ...folder.files.map(fileItem),
  ]
  return itemsOf(treeOf(set.files))
}

/** Files that are not drawn yet, each with the address of what changed in it. */
export function laterItems(shown: Shown, set: ChangeSet, files: readonly ChangedFile[]): Markup[] {
  return files.map((file) => {
    const address = addressIn(shown, changesAddress(set, { file: file.new_path }))
    return markup`<li id="${fileId(file)}"><a class="mono" href="${address}">${file.new_path}</a></li>`
  })
}

const NOTHING = markup``

/** A picture that stands for a word. */
function picture(shown: Shown, name: IconName, label: string): Markup {
  return markup`<svg class="icon" width="16" height="16" role="img"><title>${label}</title><use href="${iconAddress(shown, name)}"></use></svg>`
}
