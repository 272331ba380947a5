import type { MailTexts } from './mail.ts';

export const indonesian: MailTexts = {
  frame: {
    greeting: 'Halo{{#name}} {{name}}{{/name}},',
    chosen: 'Anda menerima surel ini sesuai pengaturan Anda.',
    unsubscribe: 'Hentikan surel jenis ini',
    security: 'Surel ini tentang keamanan akun Anda dan tidak dapat dimatikan.',
  },
  confirm_address: {
    subject: 'Konfirmasi alamat surel Anda',
    paragraphs: [
      'Mohon konfirmasi bahwa ini alamat Anda. Sebelum itu kami tidak mengirim bukti pembayaran dan pengingat.',
      'Tautan ini berlaku sekali, selama 60 menit. Jika Anda tidak mendaftar di Amanah, abaikan surel ini.',
    ],
    button: 'Konfirmasi alamat saya',
  },
  reset_password: {
    subject: 'Atur kata sandi baru',
    paragraphs: [
      'Seseorang, mungkin Anda, meminta kata sandi baru untuk akun ini.',
      'Tautan ini berlaku sekali, selama 60 menit. Jika bukan Anda, abaikan surel ini: kata sandi Anda tidak berubah.',
    ],
    button: 'Atur kata sandi baru',
  },
  invitation: {
    subject: 'Anda diundang ke Amanah',
    paragraphs: [
      'Anda diundang{{#organization}} ke {{organization}}{{/organization}}. Pilih kata sandi untuk menerimanya.',
      'Tautan ini berlaku sekali, selama 7 hari. Jika Anda tidak menunggu undangan ini, abaikan surel ini.',
    ],
    button: 'Terima undangan',
  },
  new_login: {
    subject: 'Login baru ke akun Anda',
    paragraphs: [
      'Pada {{at}} ada login ke akun Anda dari alamat yang belum kami kenal: {{from}}.',
      'Jika bukan Anda, segera ganti kata sandi Anda; semua sesi lain akan berakhir.',
    ],
  },
  password_changed: {
    subject: 'Kata sandi Anda telah diganti',
    paragraphs: [
      'Kata sandi akun Anda telah diganti pada {{at}}. Semua sesi lain telah berakhir.',
      'Jika bukan Anda, segera atur kata sandi baru melalui "lupa kata sandi" dan beri tahu kami.',
    ],
  },
  second_factor_on: {
    subject: 'Faktor kedua Anda aktif',
    paragraphs: [
      'Sejak {{at}} login memerlukan kode dari aplikasi autentikator Anda.',
      'Jika bukan Anda, segera beri tahu kami.',
    ],
  },
  second_factor_off: {
    subject: 'Faktor kedua Anda dimatikan',
    paragraphs: [
      'Sejak {{at}} login tidak lagi memerlukan kode dari aplikasi autentikator.',
      'Jika bukan Anda, segera ganti kata sandi Anda dan beri tahu kami.',
    ],
  },
  sessions_ended: {
    subject: 'Sebuah sesi telah diakhiri',
    paragraphs: [
      'Pada {{at}} salah satu sesi Anda diperpanjang dua kali dengan token yang sama. Token itu mungkin disalin orang lain, sehingga sesi tersebut kami akhiri; silakan login lagi.',
      'Jika ini terjadi lagi, ganti kata sandi Anda.',
    ],
  },
  bank_account_added: {
    subject: 'Rekening bank telah ditambahkan',
    paragraphs: [
      'Rekening bank di {{bank}}, dengan akhiran {{ending}}, telah ditambahkan untuk penarikan pada {{at}}.',
      'Jika bukan Anda, segera ganti kata sandi Anda dan beri tahu kami.',
    ],
  },
  donation: {
    subject: 'Bukti donasi Anda sebesar {{amount}}',
    paragraphs: [
      'Terima kasih atas donasi Anda sebesar {{amount}}{{#cause}} untuk {{cause}}{{/cause}}{{^cause}} untuk donasi terbuka{{/cause}} pada {{at}}.',
      'Referensi: {{reference}}',
    ],
  },
  subscription_period: {
    subject: 'Bukti donasi rutin Anda sebesar {{amount}}',
    paragraphs: [
      'Donasi rutin Anda sebesar {{amount}} untuk {{cause}} telah dibayar pada {{at}}. Terima kasih.',
      'Referensi: {{reference}}',
    ],
  },
  allocation: {
    subject: 'Donasi Anda sebesar {{amount}} disalurkan ke {{cause}}',
    paragraphs: [
      'Donasi terbuka Anda sebesar {{amount}} telah kami salurkan ke {{cause}} pada {{at}}. Terima kasih.',
      'Referensi: {{reference}}',
    ],
  },
  contribution: {
    subject: 'Bukti iuran Anda untuk {{circle}}',
    paragraphs: [
      'Iuran Anda sebesar {{amount}}{{#guarantee}} beserta jaminan {{guarantee}}{{/guarantee}} untuk {{circle}} giliran {{turn}} telah kami terima pada {{at}}.',
      'Referensi: {{reference}}',
    ],
  },
  top_up: {
    subject: 'Bukti isi saldo Anda sebesar {{amount}}',
    paragraphs: [
      '{{amount}} telah masuk ke akun Anda melalui {{channel}} pada {{at}}.{{#fee}} Biayanya {{fee}}.{{/fee}}',
      'Referensi: {{reference}}',
    ],
  },
  withdrawal: {
    subject: 'Penarikan Anda sebesar {{amount}} telah dibayar',
    paragraphs: [
      '{{amount}} telah dikirim ke rekening Anda di {{bank}} pada {{at}}.{{#fee}} Biayanya {{fee}}.{{/fee}}',
      'Referensi: {{reference}}',
    ],
  },
  disbursement: {
    subject: '{{cause}} telah menyalurkan {{amount}}',
    paragraphs: [
      'Program {{cause}}, yang menerima donasi Anda, telah menyalurkan {{amount}} pada {{at}}.',
      'Tujuannya menurut pengelola: {{purpose}}',
    ],
  },
  year_statement: {
    subject: 'Donasi Anda tahun {{year}}: {{amount}}',
    paragraphs: [
      'Terima kasih. Selama tahun {{year}} Anda berdonasi {{amount}}.{{#refunded}} Selain itu, {{refunded}} telah dikembalikan kepada Anda.{{/refunded}}',
      'Jumlah donasi: {{count}}. Laporan lengkap tersedia di aplikasi.',
    ],
  },
  cause_approved: {
    subject: 'Program Anda {{cause}} telah disetujui',
    paragraphs: ['Program {{cause}} telah disetujui pada {{at}} dan sekarang dapat menerima donasi.'],
  },
  cause_stopped: {
    subject: 'Program Anda {{cause}} dihentikan',
    paragraphs: [
      'Kami telah menghentikan program {{cause}} pada {{at}}. Program ini tidak menerima donasi dan dananya tidak dapat disalurkan. Dana yang ada tetap tersimpan.',
      'Silakan hubungi kami untuk mengetahui alasannya.',
    ],
  },
  circle_invitation: {
    subject: 'Anda diajak bergabung di {{circle}}',
    paragraphs: [
      'Anda diajak bergabung di {{circle}}: {{amount}} setiap putaran, mulai {{at}}.',
      'Anda bergabung melalui aplikasi setelah membaca ketentuannya. Jika tidak, Anda tidak menjadi anggota.',
    ],
  },
  circle_due: {
    subject: 'Iuran Anda untuk {{circle}} segera jatuh tempo',
    paragraphs: ['Iuran Anda sebesar {{amount}} untuk {{circle}} giliran {{turn}} jatuh tempo pada {{due_at}}.'],
  },
  circle_overdue: {
    subject: 'Iuran Anda untuk {{circle}} terlambat',
    paragraphs: [
      'Iuran Anda sebesar {{amount}} untuk {{circle}} giliran {{turn}} jatuh tempo pada {{due_at}} dan belum kami terima.',
      'Anggota lain menunggunya. Mohon segera dibayar.',
    ],
  },
  circle_default: {
    subject: 'Anda gagal bayar di {{circle}}',
    paragraphs: [
      'Iuran Anda sebesar {{amount}} untuk {{circle}} giliran {{turn}} tidak kami terima dalam masa tenggang.',
      'Akibatnya tertulis dalam ketentuan arisan yang Anda setujui saat bergabung.',
    ],
  },
  circle_pot: {
    subject: 'Anda menerima dana arisan {{circle}}',
    paragraphs: ['{{pot}} dari {{circle}}, dana giliran {{turn}}, telah masuk ke akun Anda pada {{at}}.'],
  },
};
