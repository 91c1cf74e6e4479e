import type { Db } from '../store/schema.ts'
import {
  deleteFeature,
  type FeatureRow,
  findFeature,
  findSetting,
  listFeatureRows,
  listSettingRows,
  saveFeature,
  saveSetting,
} from '../store/settings-queries.ts'
import { inTransaction } from '../store/transaction.ts'
import { type SettingName, type SettingValues, settingDefinitions } from './setting-definitions.ts'

const presets = Object.fromEntries(
  Object.entries(settingDefinitions).map(([name, { preset }]) => [name, preset]),
) as unknown as SettingValues // each value is the preset of its own definition

/** What administrators have set, in memory: each request asks. One process serves a data folder, so nobody else writes. */
export class InstanceSettings {
  #values: SettingValues
  #documents: ReadonlyMap<string, unknown> = new Map()
  #features: ReadonlyMap<string, FeatureRow> = new Map()
  readonly #fallback: Partial<SettingValues>

  /** `fallback`: what the configuration says instead of the presets. */
  constructor(fallback: Partial<SettingValues> = {}) {
    this.#fallback = fallback
    this.#values = { ...presets, ...fallback }
  }

  /** Every application setting. */
  get all(): SettingValues {
    return this.#values
  }

  get<K extends SettingName>(name: K): SettingValues[K] {
    return this.#values[name]
  }

  /** What else is stored under a name beside the settings: appearance, plan limits, licence. */
  document(name: string): unknown {
    return this.#documents.get(name)
  }

  get features(): readonly FeatureRow[] {
    return [...this.#features.values()]
  }

  /** Whether the instance offers a feature: every one that nobody has switched off. */
  offers(feature: string): boolean {
    return (this.#features.get(feature)?.state ?? 'on') === 'on'
  }

  async load(db: Db): Promise<void> {
    const values: Record<string, unknown> = { ...presets, ...this.#fallback }
    const documents = new Map<string, unknown>()
    for (const { key, value } of await listSettingRows(db)) {
      if (key in settingDefinitions) values[key] = JSON.parse(value)
      else documents.set(key, JSON.parse(value))
    }
    this.#values = values as unknown as SettingValues // checked when they were saved
    this.#documents = documents
    this.#features = new Map((await listFeatureRows(db)).map((row) => [row.name, row]))
  }

  async change(db: Db, changes: Partial<SettingValues>): Promise<void> {
    await inTransaction({ db }, async (inner) => {
      for (const [name, value] of Object.entries(changes)) {
        await saveSetting(inner.db, name, value)
      }
    })
    await this.load(db)
  }

  async saveDocument(db: Db, name: string, value: unknown): Promise<void> {
    await this.changeDocument(db, name, () => value)
  }

  /** Stores what `change` makes of a document as it is: in memory it may lack what was saved a moment ago. */
  async changeDocument<T>(db: Db, name: string, change: (known: unknown) => T): Promise<T> {
    const changed = await inTransaction({ db }, async (inner) => {
      const changed = change(await findSetting(inner.db, name))
      await saveSetting(inner.db, name, changed)
      return changed
    })
    await this.load(db)
    return changed
  }

  /** The same for a feature; undefined is one that nobody has switched. */
  async changeFeature(
    db: Db,
    name: string,
    change: (known: FeatureRow | undefined) => Omit<FeatureRow, 'name'>,
  ): Promise<FeatureRow> {
    const changed = await inTransaction({ db }, async (inner) => {
      const row = { name, ...change(await findFeature(inner.db, name)) }
      await saveFeature(inner.db, row)
      return row
    })
    await this.load(db)
    return changed
  }

  /** False when nobody had switched it. */
  async deleteFeature(db: Db, name: string): Promise<boolean> {
    const isGone = await deleteFeature(db, name)
    await this.load(db)
    return isGone
  }
}
