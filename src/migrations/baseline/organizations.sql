-- Organizations, and the sizes and industries offered at sign-up.

create table organization_sizes (
  id uuid primary key,
  label text not null unique,
  range text not null,
  created_at timestamptz not null default now()
);
create table organization_industries (
  id uuid primary key,
  value text not null unique,
  label text not null,
  created_at timestamptz not null default now()
);
create table organizations (
  id uuid primary key,
  name varchar(200) not null,
  logo_id varchar(255),
  email varchar(254) not null,
  phone_number varchar(32),
  official_registration_number varchar(64),
  industry text references organization_industries (value),
  size text references organization_sizes (label),
  status text not null default 'pending' check (status in ('pending', 'active', 'inactive', 'suspended')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index organizations_by_creation on organizations (created_at, id);
-- For search.
create index organizations_by_email on organizations (lower(email));
create trigger organizations_status_law before insert or update of status on organizations
  for each row execute function keep_status('status', '>pending', '*');

-- One second apart, so that lists by creation time keep this order.
insert into organization_sizes (id, label, range, created_at)
  select uuidv7(), label, range, timestamptz '2026-01-01 00:00:00Z' + place * interval '1 second'
  from (values
    (0, 'tens', '10-99'),
    (1, 'hundreds', '100-999'),
    (2, 'thousands', '1,000-999,999'),
    (3, 'millions', '1,000,000 and more')) as size (place, label, range);
-- `technnology` is the spelling in the API and must stay.
insert into organization_industries (id, value, label, created_at)
  select uuidv7(), value, label, timestamptz '2026-01-01 00:00:00Z' + place * interval '1 second'
  from (values
    (0, 'finance', 'Finance'),
    (1, 'health', 'Health'),
    (2, 'agriculture', 'Agriculture'),
    (3, 'education', 'Education'),
    (4, 'technnology', 'Technology'),
    (5, 'manufacturing', 'Manufacturing'),
    (6, 'marine', 'Marine'),
    (7, 'aviation', 'Aviation'),
    (8, 'security', 'Security'),
    (9, 'government', 'Government'),
    (10, 'ngo', 'NGO')) as industry (place, value, label);
