import type { IconName } from '../../parts/icon-names.ts'
import type { Place } from '../place.ts'

/** What a form sends as one action of a commit (POST …/repository/commits). */
export interface CommitAction {
  readonly action: 'create' | 'update' | 'move' | 'delete'
  readonly file_path: string
  readonly previous_path?: string
  readonly content?: string
  readonly encoding?: 'base64'
  readonly last_commit_id?: string
}

/** The file that a form is about. */
export interface EditedFile {
  readonly lastCommit: string
  /** Absent where it is no text that a page can hold. */
  readonly text: string | undefined
}

export interface Edited {
  readonly place: Place
  readonly file: EditedFile | undefined
  /** Where the commit goes unless somebody says otherwise. */
  readonly branch: string
  readonly isBranch: boolean
  /** The commit goes to the person's own fork. */
  readonly inFork: boolean
}

/** What was filled in: the fields as they came, and the uploaded file. */
export interface Filled {
  readonly place: Place
  text(name: string): string
  /** The bytes of the file as base64, if one was sent. */
  readonly upload: { readonly name: string; readonly base64: string } | undefined
}

/** One way to change files: a page at an address of this name, and the form on it. */
export interface EditKind {
  readonly name: 'edit' | 'new' | 'upload' | 'replace' | 'rename' | 'delete' | 'new_folder'
  readonly title: string
  readonly icon: IconName
  /** Whether the address names a file; otherwise it is the folder that gets one. */
  readonly ofFile: boolean
  readonly button: string
  /** The message where none is written. */
  message(filled: Filled): string
  action(filled: Filled): CommitAction
}

function below(folder: string, name: string): string {
  const clean = name.trim().replace(/^\/+/, '')
  return folder === '' ? clean : `${folder}/${clean}`
}

/** Text areas send CR LF for every line break: the file keeps those that it had. */
function textOf({ text }: Filled): string {
  const plain = text('content').replaceAll('\r\n', '\n')
  return text('newlines') === 'crlf' ? plain.replaceAll('\n', '\r\n') : plain
}

const known = ({ text }: Filled) =>
  text('last_commit_id') === '' ? {} : { last_commit_id: text('last_commit_id') }

export const editKinds: readonly EditKind[] = [
  {
    name: 'edit',
    title: 'Edit',
    icon: 'pencil',
    ofFile: true,
    button: 'Commit the change',
    message: ({ place }) => `Change ${place.path}`,
    action(filled) {
      const { path } = filled.place
      const name = filled.text('file_path').trim()
      const content = textOf(filled)
      // One that was deleted meanwhile is made again.
      if (filled.text('last_commit_id') === '') {
        return { action: 'create', file_path: name || path, content }
      }
      if (name === '' || name === path) {
        return { action: 'update', file_path: path, content, ...known(filled) }
      }
      return { action: 'move', file_path: name, previous_path: path, content, ...known(filled) }
    },
  },
  {
    name: 'new',
    title: 'New file',
    icon: 'plus',
    ofFile: false,
    button: 'Commit the new file',
    message: ({ place, text }) => `Add ${below(place.path, text('file_name'))}`,
    action: (filled) => ({
      action: 'create',
      file_path: below(filled.place.path, filled.text('file_name')),
      content: textOf(filled),
    }),
  },
  {
    name: 'upload',
    title: 'Upload a file',
    icon: 'upload',
    ofFile: false,
    button: 'Upload the file',
    message: ({ place, upload }) => `Add ${below(place.path, upload?.name ?? '')}`,
    action: ({ place, upload }) => ({
      action: 'create',
      file_path: below(place.path, upload?.name ?? ''),
      content: upload?.base64 ?? '',
      encoding: 'base64',
    }),
  },
  {
    name: 'replace',
    title: 'Replace',
    icon: 'upload',
    ofFile: true,
    button: 'Replace the file',
    message: ({ place }) => `Replace ${place.path}`,
    action: (filled) => ({
      action: 'update',
      file_path: filled.place.path,
      content: filled.upload?.base64 ?? '',
      encoding: 'base64',
      ...known(filled),
    }),
  },
  {
    name: 'rename',
    title: 'Rename or move',
    icon: 'file-moved',
    ofFile: true,
    button: 'Move the file',
    message: ({ place, text }) => `Move ${place.path} to ${text('file_path').trim()}`,
    action: (filled) => ({
      action: 'move',
      file_path: filled.text('file_path').trim(),
      previous_path: filled.place.path,
      ...known(filled),
    }),
  },
  {
    name: 'delete',
    title: 'Delete',
    icon: 'trash',
    ofFile: true,
    button: 'Delete the file',
    message: ({ place }) => `Delete ${place.path}`,
    action: (filled) => ({ action: 'delete', file_path: filled.place.path, ...known(filled) }),
  },
  {
    name: 'new_folder',
    title: 'New folder',
    icon: 'file-directory-fill',
    ofFile: false,
    button: 'Create the folder',
    message: ({ place, text }) => `Add the folder ${below(place.path, text('folder_name'))}`,
    // git knows no empty folders: a file without contents holds it.
    action: ({ place, text }) => ({
      action: 'create',
      file_path: `${below(place.path, text('folder_name').replace(/\/+$/, ''))}/.gitkeep`,
      content: '',
    }),
  },
]
