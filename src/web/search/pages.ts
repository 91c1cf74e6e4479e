import type { Page } from '../page.ts'
import { searchPage } from './search.tsx'

export const searchPages: readonly Page[] = [searchPage]
