import { readFileSync } from 'node:fs'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { matchTerms } from '../../shared/search/matching/match.ts'
import { detectLanguage } from '../../shared/search/text/detect-language.ts'
import { languageOf } from '../../shared/search/text/stems.ts'
import { t } from '../support/tap.ts'

const inScope = ['de', 'en', 'es', 'fr', 'ru', 'simple']

const corpora = {
  en: { language: 'en', found: ['box', 'photograph', 'findMissing', 'B-204', 'cafe', '"two people check"', 'agree'] },
  de: {
    language: 'de',
    found: ['kisten', 'landkarte', 'STRASSEN', 'archiv', '"eine Nummer"', 'leitung', 'datenbanksicherung'],
  },
  fr: { language: 'fr', found: ['boite', 'déplacer', 'hiver', 'etranger', '"une fois par an"', 'anciennes'] },
  es: { language: 'es', found: ['caja', 'fotografía', 'ano', 'mapa', '"una vez al año"', 'camino'] },
  ru: { language: 'ru', found: ['архивы', 'коробки', 'ёлка', 'елка', '"два человека"', 'карта'] },
  zh: { language: 'simple', found: ['档案', '搬', '数据库', '连接池', 'api', '"使用API查询"', '编号'] },
  ja: { language: 'simple', found: ['資料館', '番号', 'データベース', 'サーバー', '箱', 'ﾃﾞｰﾀ', 'ません'] },
  th: { language: 'simple', found: ['กล่อง', 'แผนที่', 'ฐานข้อมูล', 'ห้อง', 'ปี', 'จดหมาย'] },
  ko: { language: 'simple', found: ['보관소', '상자', '데이터베이스', '관리자', '문', '지도'] },
}

for (const [name, { language, found }] of Object.entries(corpora)) {
  const text = readFileSync(new URL(`corpus/${name}.md`, import.meta.url), 'utf8')

  t.test(`a reader of ${name} finds what a text in ${name} says`, async (t) => {
    for (const q of found) {
      const { first, matchCount } = matchTerms(text, { query: parseQuery(q), languages: inScope, language })
      t.ok(first, q)
      t.ok(matchCount > 0, q)
    }
  })

  t.test(`a text in ${name} without a locale is read as what it is`, async (t) => {
    t.equal(detectLanguage(text), language)
  })
}

t.test('a compound is found whole and by its parts where they are hyphenated, not by its beginning', async (t) => {
  const text = readFileSync(new URL('corpus/de.md', import.meta.url), 'utf8')
  const finds = (q: string) =>
    matchTerms(text, { query: parseQuery(q), languages: inScope, language: 'de' }).first !== null
  for (const q of ['Datenbanksicherung', 'Datenbanksicherungen', 'Archiv-Leitung', 'Leitung']) t.ok(finds(q), q)
  for (const q of ['Datenbank', 'Sicherung']) t.notOk(finds(q), q)
})

t.test('a text of a few words is found by other forms of them, though nothing tells its language', async (t) => {
  const forms = {
    'Elephants drink water': ['elephant', 'drinks'],
    Running: ['run', 'runs'],
    'Configured servers in production': ['server', 'configure'],
    'les chevaux mangeaient': ['cheval', 'mangeait'],
    'Die Häuser standen leer': ['Haus', 'stand'],
    'слоны пьют воду': ['слон', 'вода'],
  }
  for (const [text, queries] of Object.entries(forms)) {
    const language = detectLanguage(text)
    for (const q of queries) t.ok(matchTerms(text, { query: parseQuery(q), languages: [language], language }).first, q)
  }
})

t.test('a word with letters of its language is found by other forms of it', async (t) => {
  const forms = {
    Größen: 'Größe',
    niños: 'niño',
    'Œuvres complètes': 'œuvre',
    Frågor: 'fråga',
    Bøger: 'bøgerne',
    'őszi könyvek': 'könyv',
    informações: 'informação',
    orașe: 'oraș',
    knížky: 'knížka',
    таблицы: 'таблица',
  }
  for (const [text, q] of Object.entries(forms)) {
    const language = detectLanguage(text)
    t.ok(matchTerms(text, { query: parseQuery(q), languages: [language], language }).first, `${text} as ${language}`)
  }
  t.same(['ışık', 'İstanbul'].map(detectLanguage), ['tr', 'tr'])
  for (const text of ['łódź', 'Привіт', 'Ľubomír']) t.equal(detectLanguage(text), 'simple', text)
  t.equal(detectLanguage('the café and its menu'), 'en', 'stop words say more than a letter')
})

t.test('a text without words of a language that is stemmed is not taken for one', async (t) => {
  for (const text of ['', '12 345', '漢字', 'สวัสดี', '😀']) t.equal(detectLanguage(text), 'simple', text)
})

t.test('a locale decides the language, whatever its script and region', async (t) => {
  t.same(['de-AT', 'nb', 'nn-NO', 'pt-BR', 'zh-Hant-TW', 'xx'].map(languageOf), [
    ...['de', 'no', 'no', 'pt', 'simple', 'simple'],
  ])
  t.equal(languageOf(null), null)
})
