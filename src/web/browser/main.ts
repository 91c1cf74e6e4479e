import '@github/clipboard-copy-element'
import '@github/relative-time-element'
import { install } from '@github/hotkey'
import { compareImages } from './compare-images.ts'
import { askBefore } from './confirm.ts'
import { followLines, insertForms } from './insert.ts'
import { askForKeys } from './keys.ts'
import { listKeys } from './keys-help.ts'
import { markLines } from './lines.ts'
import { followLive } from './live.ts'
import { loadParts } from './load.ts'
import { closeMenus } from './menus.ts'
import { walk } from './move.ts'
import { openPalette } from './palette.ts'
import { previewMarkdown } from './preview.ts'
import { sendQuietly } from './quiet.ts'
import { searchAsTyped } from './search-as-typed.ts'
import { showCurrent } from './tabs.ts'

/** Gives the marked elements below `root` their behaviour; called again for what is loaded later. */
export function start(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-hotkey]')) install(element)
  for (const control of root.querySelectorAll<HTMLElement>('[data-script]')) control.hidden = false
  loadParts(root, start)
}

start(document)
askBefore()
askForKeys()
compareImages()
closeMenus()
openPalette()
listKeys()
searchAsTyped()
markLines()
showCurrent()
followLive(start)
insertForms(start)
followLines()
sendQuietly(start)
previewMarkdown()
walk()
